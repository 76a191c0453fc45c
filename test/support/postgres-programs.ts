/** Where the programs of PostgreSQL lie that Debian's package brings. */
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
