/**
 * What each site begins with: a state that `dropgate init` made, and the password, the key and the host key of its clients.
 * It is made once in a run of the tests (`run-folder.ts`) and copied for each site; so is what some kinds of sites have
 * besides.
 */
import { randomBytes } from "node:crypto";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { plantDatabase, removeDatabase, type SitePlace, storeSettings } from "./site-database.ts";
import { onceInRun } from "./run-folder.ts";
import { makePasswordCheap } from "./cheap-password.ts";
import { runProgram } from "./run-program.ts";

export const program = resolve(import.meta.dirname, "../../bin/dropgate");
export const company = "ACME";
export const user = "host";

/** In the template and in the folder of each site. */
export const clientFiles = { password: "password", key: "id_ed25519", hostKey: "host_key.pub" } as const;

/** A template in the making, with a configuration for the commands that fill it. */
export interface SiteInMaking {
  readonly folder: string;
  readonly configFile: string;
  readonly passwordFile: string;
}

/** A kind of sites that begin with more than the plain ones. */
export interface SiteKind {
  /** Of its template; no other kind has it. */
  readonly name: string;
  /** Adds to the state of a plain site, once in a run. */
  fill(site: SiteInMaking): Promise<void>;
}

async function mustRun(file: string, ...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, output } = await runProgram(file, args);
  if (exitCode !== 0) throw new Error(`${file} ${args.join(" ")} ended with ${exitCode}: ${output}`);
  return stdout;
}

async function configure(folder: string): Promise<string> {
  const configFile = join(folder, "dropgate.yaml");
  await writeFile(configFile, JSON.stringify({ stateDir: join(folder, "var"), ...storeSettings }));
  return configFile;
}

async function makeIn(folder: string): Promise<void> {
  await Promise.all([plantDatabase(folder), configure(folder)]);
  const inside = (...names: readonly string[]) => join(folder, ...names);
  const { password, key, hostKey } = clientFiles;
  await writeFile(inside(password), `geheim-${randomBytes(6).toString("hex")}\n`, { mode: 0o600 });
  const account = ["--company", company, "--user", user, "--password-file", inside(password)];
  await Promise.all([
    mustRun("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", inside(key)),
    mustRun(program, "init", "--dir", folder, ...account),
  ]);
  const config = ["--config", inside("dropgate.yaml")];
  await mustRun(program, "user", "add-key", user, "--key", inside(`${key}.pub`), ...config);
  await writeFile(
    inside(hostKey),
    await mustRun("ssh-keygen", "-y", "-f", inside("var", "keys", "ssh_host_ed25519_key")),
  );
}

const placeIn = (folder: string): SitePlace => ({ folder, stateDir: join(folder, "var") });

/** Copies a state that no program uses, with its database. */
export async function copyState(from: SitePlace, to: SitePlace): Promise<void> {
  await cp(from.stateDir, to.stateDir, { recursive: true });
  await plantDatabase(to.folder, from.folder);
}

async function copy(template: string, folder: string, stateDir: string): Promise<void> {
  await copyState(placeIn(template), { folder, stateDir });
  const { password, key, hostKey } = clientFiles;
  for (const name of [password, key, `${key}.pub`, hostKey])
    await cp(join(template, name), join(folder, name));
}

/** Each start of a daemon checks the password of its clients once more. */
async function makeCheap(folder: string): Promise<void> {
  const password = (await readFile(join(folder, clientFiles.password), "utf8")).trim();
  await makePasswordCheap(placeIn(folder), password);
}

async function templateOf(kind: SiteKind | undefined): Promise<string> {
  const plain = await onceInRun("site", async (folder) => {
    await makeIn(folder);
    await makeCheap(folder);
  });
  if (kind === undefined) return plain;
  return await onceInRun(`site-${kind.name}`, async (folder) => {
    await copy(plain, folder, placeIn(folder).stateDir);
    const passwordFile = join(folder, clientFiles.password);
    await kind.fill({ folder, configFile: await configure(folder), passwordFile });
    await makeCheap(folder);
  });
}

/** Puts a copy of the state that was left in the folder in the place of that of a site. */
export async function replaceState(site: SitePlace, folder: string): Promise<void> {
  await rm(site.stateDir, { recursive: true });
  await removeDatabase(site.folder);
  await copyState(placeIn(folder), site);
}

/** Leaves a copy of the state of a site in the folder. */
export async function leaveState(site: SitePlace, folder: string): Promise<void> {
  await copyState(site, placeIn(folder));
}

/** Plants the state and the files of the clients. Gives the password of the user and the public key of the server. */
export async function plantSite(
  folder: string,
  stateDir: string,
  kind?: SiteKind,
): Promise<{ readonly password: string; readonly hostKey: string }> {
  await copy(await templateOf(kind), folder, stateDir);
  const read = async (name: string) => (await readFile(join(folder, name), "utf8")).trim();
  return { password: await read(clientFiles.password), hostKey: await read(clientFiles.hostKey) };
}
