/** A site whose database is on a server of PostgreSQL. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { company, type Settings, Site, user } from "./daemon.ts";
import { runProgram } from "./run-program.ts";
import { nameDatabase, removeDatabase, storeReference } from "./site-database.ts";
import { clientFiles, program } from "./site-template.ts";

/** As `Site.make`, made by `dropgate init` in an empty database; `admin` is an administrator and operator of the console. */
export async function makePostgresSite(url: string, settings: Settings = {}): Promise<Site> {
  const site = await Site.make({
    ...{ store: storeReference, console: { operators: [`operator@${company}`] } },
    ...settings,
  });
  // All but the host keys, which its clients know.
  for (const name of await readdir(site.stateDir))
    if (name !== "keys") await rm(join(site.stateDir, name), { recursive: true });
  await removeDatabase(site.folder);
  await nameDatabase(site.folder, url);
  const account = ["--company", company, "--user", user, "--password-file", site.passwordFile];
  const admin = ["--admin", "operator", "--admin-password-file", site.passwordFile];
  const { exitCode, output } = await runProgram(program, [
    "init",
    "--dir",
    site.folder,
    ...account,
    ...admin,
  ]);
  if (exitCode !== 0) throw new Error(`dropgate init ended with ${exitCode}: ${output}`);
  await site.mustRun("user", "add-key", user, "--key", join(site.folder, `${clientFiles.key}.pub`));
  return site;
}
