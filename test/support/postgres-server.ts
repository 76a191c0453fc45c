/** A server of PostgreSQL for the tests of a run: Debian's package, as an ordinary user, in a folder of its own. */
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { isInstalled } from "./run-program.ts";
import { freePort } from "./server-process.ts";

const nobody = 65_534;
const programs = "/usr/lib/postgresql";

/** Debian's package; `install-system-programs.sh` installs it where it may. */
export const hasPostgres = isInstalled("pg_ctlcluster");

/** The newest version that is installed. */
function programOf(name: string): string {
  const [newest] = readdirSync(programs).toSorted((one, other) => Number(other) - Number(one));
  if (newest === undefined)
    throw new Error(
      `${programs} is empty: install Debian's package postgresql (sh test/support/install-system-programs.sh)`,
    );
  return join(programs, newest, "bin", name);
}

/** The server refuses to run as root. */
const account = process.geteuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

/** What is lost when the machine dies is lost with the tests. */
const settings = [
  ...["fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "max_connections=300"],
  ...["shared_buffers=64MB", "listen_addresses=127.0.0.1", "unix_socket_directories="],
];

export interface PostgresServer {
  /** Of the database of that name. */
  urlOf(database: string): string;
  stop(): void;
}

/** Starts a server without databases of ours; whoever has the address is its superuser. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-postgres-"));
  const data = join(folder, "data");
  mkdirSync(data);
  chmodSync(data, 0o700);
  if ("uid" in account) execFileSync("chown", ["-R", `${nobody}:${nobody}`, folder]);
  const run = { ...account, cwd: folder, stdio: "pipe" as const };
  const made = [
    "-D",
    data,
    "-U",
    "dropgate",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--no-sync",
  ];
  await promisify(execFile)(programOf("initdb"), made, run);
  const port = await freePort();
  const options = [...settings, `port=${port}`].map((setting) => `-c ${setting}`).join(" ");
  const control = programOf("pg_ctl");
  const stop = () => {
    execFileSync(control, ["-D", data, "-m", "immediate", "stop"], run);
    rmSync(folder, { recursive: true, force: true });
  };
  execFileSync(control, ["-D", data, "-w", "-l", join(folder, "log"), "-o", options, "start"], {
    ...run,
    stdio: "ignore",
  });
  return { urlOf: (database) => `postgres://dropgate@127.0.0.1:${port}/${database}`, stop };
}
