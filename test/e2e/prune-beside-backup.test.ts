/** What `dropgate prune` says and does while files have to stay (docs/retention.md#see-what-would-go). */
import { mkdir, readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockBackups } from "../../src/backup/take-backup.ts";
import { dayMs } from "../../src/lib/durations.ts";
import { oneParser, Site } from "../support/daemon.ts";
import { filedIn, send, stopFile } from "../support/stop-files.ts";
import { changeRows, rowsOf } from "../support/site-database.ts";
import { itOnSqlite } from "../support/store-dialect.ts";

let site: Site;

beforeEach(async () => {
  site = await Site.make({
    inbound: oneParser,
    retention: { archive: 30, receipts: 30, error: 30, ledger: 30 },
  });
  await site.start();
  for (const nbr of ["A1", "A2"]) await send(site, stopFile(nbr));
  await site.stop();
  changeRows(site, "update files set decided_at = ?", Date.now() - 50 * dayMs);
});
afterEach(() => site.end());

const receipts = async () => (await readdir(site.path("receipts"))).length;
// A backup by dropgate copies the file of SQLite; a server has tools of its own.
const held = "a backup is being made: old files of receipts, archive stay until it is done";

itOnSqlite("it says that files stay, why and until when, and they go when it is said again", async () => {
  const backup = lockBackups(site.stateDir);
  const refused = await site.cli("prune");
  expect(refused).toMatchObject({ exitCode: 1, stdout: "Nothing was removed.\n" });
  expect(refused.output).toContain(`dropgate: ${held}; the daemon removes them then, within the hour`);
  const inJson = await site.cli("prune", "--json");
  expect(JSON.parse(inJson.stdout)).toMatchObject({ amounts: [], heldUp: held });
  expect([await filedIn(site, "archive"), await receipts()]).toEqual([
    ["a1_20261105_080000.xml", "a2_20261105_080000.xml"],
    2,
  ]);
  backup.release();
  expect(await site.mustRun("prune")).toMatch(/^archive +ACME +2 /m);
  expect([await filedIn(site, "archive"), await receipts()]).toEqual([[], 0]);
  expect(await site.mustRun("ledger", "verify")).toContain("The ledger is correct");
});

itOnSqlite("a dry run says it beside what would go, and has nothing to complain about", async () => {
  const backup = lockBackups(site.stateDir);
  const dry = await site.cli("prune", "--dry-run");
  expect([dry.exitCode, dry.stdout]).toEqual([0, expect.stringMatching(/^archive +ACME +2 /m)]);
  expect(dry.output).toContain(held);
  backup.release();
  expect((await site.cli("prune", "--dry-run")).output).not.toContain("backup");
});

itOnSqlite(
  "a backup that begins after it has all that is left, and one before it all that was there",
  async () => {
    const folder = join(site.folder, "backups");
    const before = await site.json<{ ledgerEntries: number }>("backup", folder);
    await site.mustRun("prune");
    const after = await site.json<{ ledgerEntries: number }>("backup", folder);
    expect([before.ledgerEntries, after.ledgerEntries]).toEqual([2, 0]);
  },
);

test("entries that stay because a receipt cannot be removed are told with their number, and the others go", async () => {
  const [{ id } = { id: 0 }] = rowsOf<{ id: number }>(site, "select id from files order by id limit 1");
  // No file is renamed onto a folder.
  const stuck = join(site.path("receipts"), `.${id}.pruned`);
  await mkdir(stuck);
  const { stdout, output } = await site.cli("prune");
  expect(stdout).toMatch(/^ledger +ACME +1 /m);
  expect(output).toMatch(/"entries":1\b.*because their receipts are still in receipts\//);
  await rmdir(stuck);
  expect(await site.mustRun("prune")).toMatch(/^ledger +ACME +1 /m);
  expect(await receipts()).toBe(0);
});
