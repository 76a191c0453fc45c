/** The programs of PostgreSQL that Debian's package brings. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const programs = "/usr/lib/postgresql";

/** Of the newest version that is installed. */
export function postgresProgram(name: string): string {
  const [newest] = readdirSync(programs).toSorted((one, other) => Number(other) - Number(one));
  if (newest === undefined)
    throw new Error(
      `${programs} is empty: install Debian's package postgresql (sh test/support/install-system-programs.sh)`,
    );
  return join(programs, newest, "bin", name);
}

/** Runs one statement with PostgreSQL's own client, and waits for it; gives what that prints. */
export function psql(url: string, sql: string): string {
  const options = ["--no-psqlrc", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"];
  const args = [...options, `--dbname=${url}`, `--command=${sql}`];
  return execFileSync(postgresProgram("psql"), args, { encoding: "utf8", maxBuffer: 2 ** 28 }).trim();
}
