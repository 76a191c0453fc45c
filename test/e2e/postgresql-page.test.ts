/** docs/postgresql.md, followed on a server in a temporary folder, with a database on a real server of PostgreSQL. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MappedServer } from "../support/mapped-server.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import type { ProgramResult } from "../support/run-program.ts";
import { followPage, isAsShown, type Shown } from "../support/server-pages.ts";

const page = "docs/postgresql.md";
const documentedAddress = "postgres://dropgate:PASSWORD@db.example.com:5432/dropgate";

let server: MappedServer;
let postgres: PostgresServer;
let address: string;

beforeAll(async () => {
  if (!hasPostgres) return;
  // `check` has a problem without it.
  postgres = await startPostgres({ more: ["fsync=on"] });
  address = await postgres.makeDatabase("page");
  server = await MappedServer.make();
  const init =
    "dropgate init --config /etc/dropgate/dropgate.yaml --dir /var/lib/dropgate --company ACME --user host";
  expect(await server.run(init)).toMatchObject({ exitCode: 0 });
  await server.run("systemctl start dropgate");
});
afterAll(async () => {
  if (!hasPostgres) return;
  // The page puts the tree back.
  await server.end(/^an older database was restored/);
  postgres.stop();
});

/** The tests have a database of their own, which is not backed up, and the page says in words that the setting goes. */
async function run(command: string): Promise<ProgramResult | undefined> {
  if (command.startsWith("sudo -u postgres ")) return undefined;
  const result = await server.run(command.replace(documentedAddress, address));
  if (command.endsWith("--to sqlite")) await server.run(`sed -i '/"store":/d' /etc/dropgate/dropgate.yaml`);
  return result;
}

describe.runIf(hasPostgres)(page, () => {
  test("each command succeeds, and shows what the page does", async () => {
    const followed: string[] = [];
    const shown: Shown[] = [];
    const configure = (settings: string) => server.configure(settings);
    await followPage(
      page,
      { run, configure },
      {
        followed({ command, result }) {
          expect(result?.exitCode ?? 0, `${command}\n${result?.output}`).toBe(0);
          if (result !== undefined) followed.push(command);
        },
        showed: (outcome) => shown.push(outcome),
      },
    );
    expect(followed.filter((command) => command.startsWith("dropgate store copy"))).toHaveLength(2);
    expect(shown).toHaveLength(1);
    for (const outcome of shown) expect(isAsShown(outcome), outcome.output).toBe(true);
  }, 600_000);
});
