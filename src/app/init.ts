/**
 * `dropgate init`: everything a first start needs. Each step is skipped when its outcome is there, so running it again
 * changes nothing, and running it again after a crash finishes it.
 */
import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ConfigFault } from "../config/config-fault.ts";
import { loadConfig } from "../config/load-config.ts";
import type { Config } from "../config/schema.ts";
import { ensureHostKeys, type HostKey } from "../endpoints/sftp/host-key.ts";
import { ensureCompanyTree } from "../exchange/company-tree.ts";
import { systemClock } from "../lib/clock.ts";
import { makeDirectoryDurably, writeFileDurably } from "../lib/durable-file.ts";
import * as companyAdmin from "../operations/company-admin.ts";
import * as userAdmin from "../operations/user-admin.ts";
import { companiesDirOf, readPasswordFile } from "./admin.ts";
import { type AdminStore, becomeOwnerOf, withAdminStore } from "./admin-store.ts";

export interface InitOptions {
  readonly dir: string;
  readonly companyCode: string;
  readonly userName: string;
  readonly passwordFile?: string;
  readonly httpPort?: number;
  readonly sftpPort?: number;
  /** Where the configuration is written, when not to `dropgate.yaml` in `dir`. */
  readonly configFile?: string;
}

export interface InitDone {
  readonly kind: "done";
  readonly configFile: string;
  readonly stateDir: string;
  readonly companyCode: string;
  readonly companyFolder: string;
  readonly userName: string;
  readonly generatedPassword?: string;
  readonly hostKeyFingerprint: string;
  readonly http: string;
  /** Undefined when the configuration switches SFTP off. */
  readonly sftp?: { readonly host: string; readonly port: number };
  /** What was made by this run, in words; empty when all was there. */
  readonly made: readonly string[];
}

export type InitOutcome =
  | InitDone
  | { readonly kind: "faulty"; readonly file: string; readonly faults: readonly ConfigFault[] };

function configText(stateDir: string, options: InitOptions): string {
  const port = (given: number | undefined, standard: number) =>
    given === undefined ? `  #port: ${standard}` : `  port: ${given}`;
  return `# Configuration of dropgate. What is not set here has its default; docs/configuration.md lists all settings.
# \`dropgate check\` tells whether all is well. Relative paths start at the folder of this file.

# Database, host keys and the companies' folders.
stateDir: ${JSON.stringify(stateDir)}

# The web service and the REST gateway. Listens on this machine alone; before other addresses are let in
# (host: 0.0.0.0), set up TLS here, or a TLS proxy in front and allowPlain: true.
http:
  #host: 127.0.0.1
${port(options.httpPort, 8080)}

# The SFTP server, on this machine alone as well.
sftp:
  #host: 127.0.0.1
${port(options.sftpPort, 2222)}

# Settings by company, such as further drop folders.
#companies:
#  ${options.companyCode}:
#    folders:
#      - path: /srv/orders
`;
}

async function ensureConfigFile(file: string, options: InitOptions): Promise<readonly string[]> {
  if (existsSync(file)) return [];
  await makeDirectoryDurably(resolve(options.dir));
  await makeDirectoryDurably(resolve(file, ".."));
  const stateDir = options.configFile === undefined ? "./var" : join(resolve(options.dir), "var");
  await writeFileDurably(file, configText(stateDir, options));
  return [`configuration ${file}`];
}

async function ensureStateDir(stateDir: string): Promise<readonly string[]> {
  if (existsSync(stateDir)) return [];
  await makeDirectoryDurably(stateDir);
  // Whatever the umask says.
  await chmod(stateDir, 0o750);
  return [`state directory ${stateDir}`];
}

async function ensureKeys(
  config: Config,
): Promise<{ readonly keys: readonly HostKey[]; readonly made: readonly string[] }> {
  const folder = join(config.stateDir, "keys");
  const isThere = existsSync(folder);
  const keys = await ensureHostKeys(folder, { legacy: config.sftp.legacyAlgorithms });
  return { keys, made: isThere ? [] : [`SSH host key in ${folder}`] };
}

interface Account {
  readonly companyCode: string;
  readonly companyFolder: string;
  readonly generatedPassword?: string;
  readonly made: readonly string[];
}

/** A user that is a member already stays as it is, with its roles and its password. */
async function ensureUser(
  store: AdminStore,
  options: InitOptions,
  password: string | undefined,
): Promise<Pick<Account, "generatedPassword" | "made">> {
  const { userName, companyCode } = options;
  const isMember = (user: userAdmin.ListedUser) =>
    user.userName === userName &&
    user.memberships.some((one) => one.companyCode.toLowerCase() === companyCode.toLowerCase());
  if ((await userAdmin.listUsers({ store })).some(isMember)) return { made: [] };
  const added = await userAdmin.addUser(
    { store, clock: systemClock },
    { userName, companyCode, roles: ["DI_Integration"], ...(password === undefined ? {} : { password }) },
  );
  const { generatedPassword } = added;
  const made = [`user ${userName} with the role DI_Integration`];
  return generatedPassword === undefined ? { made } : { generatedPassword, made };
}

async function ensureAccount(
  config: Config,
  options: InitOptions,
  password: string | undefined,
): Promise<Account> {
  return await withAdminStore(config.stateDir, { mayCreate: true }, async (store) => {
    const { company, isNew } = await companyAdmin.addCompany(
      { store, clock: systemClock },
      options.companyCode,
    );
    const companyFolder = await ensureCompanyTree(companiesDirOf(config), company.code);
    const user = await ensureUser(store, options, password);
    const made = [
      ...(isNew ? [`company ${company.code} with its folders in ${companyFolder}`] : []),
      ...user.made,
    ];
    return { ...user, companyCode: company.code, companyFolder, made };
  });
}

function isAnyAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function httpAddressOf({ http }: Config): string {
  const host = isAnyAddress(http.host) ? "127.0.0.1" : http.host;
  const shown = host.includes(":") ? `[${host}]` : host;
  return `${http.tls === undefined ? "http" : "https"}://${shown}:${http.port}${http.basePath}`;
}

/** Rejects with a `DropgateError` or `WrongUseError` when a name or the password is not of the form. */
export async function initialise(options: InitOptions): Promise<InitOutcome> {
  const file = resolve(options.configFile ?? join(options.dir, "dropgate.yaml"));
  const password = await readPasswordFile(options.passwordFile);
  const madeConfig = await ensureConfigFile(file, options);
  const loaded = await loadConfig({ path: file, env: process.env, cwd: process.cwd() });
  if (loaded.kind === "faulty") return { kind: "faulty", file, faults: loaded.faults };
  const { config } = loaded;
  await becomeOwnerOf(config.stateDir);
  const madeState = await ensureStateDir(config.stateDir);
  const { keys, made: madeKeys } = await ensureKeys(config);
  const account = await ensureAccount(config, options, password);
  const { host, port, enabled } = config.sftp;
  return {
    kind: "done",
    configFile: file,
    stateDir: config.stateDir,
    userName: options.userName,
    ...account,
    hostKeyFingerprint: keys[0]?.fingerprint ?? "",
    http: httpAddressOf(config),
    ...(enabled ? { sftp: { host: isAnyAddress(host) ? "127.0.0.1" : host, port } } : {}),
    made: [...madeConfig, ...madeState, ...madeKeys, ...account.made],
  };
}
