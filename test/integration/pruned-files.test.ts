/** How commands show the files whose bytes were removed because of their age (docs/retention.md#what-stays-of-a-file). */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { ledgerOfEachTest } from "../../src/inbound/testing/ledger-fixture.ts";
import { runCli } from "../../src/cli/run-cli.ts";
import { a, b, c, filed, fixture, prune } from "../support/aging-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

ledgerOfEachTest(fixture);

let config: string;
let ids: { readonly applied: number; readonly refused: number };

/** What a command prints; fails when it fails. */
async function printed(...args: readonly string[]): Promise<string> {
  let [output, errors] = ["", ""];
  const stdout = { write: (text: string) => (output += text) };
  const stderr = { write: (text: string) => (errors += text) };
  const exitCode = await runCli([...args, "--config", config], { env: {}, cwd: "/", stdout, stderr });
  expect(exitCode, errors).toBe(0);
  return output;
}

interface View {
  readonly id: number;
  readonly state: string;
  readonly isPruned: boolean;
  readonly pruned: string | null;
}

const listed = async (...options: readonly string[]) =>
  JSON.parse(await printed("files", "--json", ...options)) as readonly View[];
const idsOf = async (...options: readonly string[]) => (await listed(...options)).map(({ id }) => id);
const count = async (...options: readonly string[]) => (await printed("files", "--count", ...options)).trim();

beforeEach(async () => {
  config = join(temporaryFolder(), "dropgate.yaml");
  writeFileSync(config, JSON.stringify({ stateDir: fixture.stateDir }));
  const applied = (await filed(a)).id;
  const refused = (await filed(b, { state: "refused" })).id;
  await filed(c, { day: 50 });
  await prune({ retention: { archive: 30, error: 30 }, day: 60 });
  // Its bytes are gone too, but a user has removed them.
  const removed = (await filed("4_20261105_080000.xml", { state: "refused", day: 50 })).id;
  await fixture.store.write("site", (tx) =>
    tx.updateTable("files").set({ removed_at: 1, removed_by: "host1" }).where("id", "=", removed).execute(),
  );
  ids = { applied, refused };
});

describe("files that were pruned", () => {
  test("keep their state, and are marked in the list", async () => {
    const columns = (await printed("files")).split("\n").map((line) => line.trim().split(/ +/));
    expect(columns.slice(1, 5).map(([id, , , state]) => [Number(id), state])).toEqual([
      [4, "refused"],
      [3, "applied"],
      [ids.refused, "refused/pruned"],
      [ids.applied, "applied/pruned"],
    ]);
    expect(await printed("file", "show", String(ids.applied))).toMatch(/^State +applied, pruned$/m);
    expect(await printed("explain", a)).toContain("Its content was pruned on ");
  });

  test("are listed and counted by themselves, and among those of their state", async () => {
    const pruned = await listed("--state", "pruned");
    expect(pruned).toMatchObject([
      { id: ids.refused, state: "refused", isPruned: true, pruned: expect.stringContaining("30 days") },
      { id: ids.applied, state: "applied", isPruned: true },
    ]);
    expect([await count("--state", "pruned"), await count("--state", "applied"), await count()]).toEqual([
      ...["2", "2", "4"],
    ]);
    expect((await listed()).filter(({ isPruned }) => isPruned)).toHaveLength(2);
  });

  test("are listed together with the other options, page by page", async () => {
    expect(await idsOf("--state", "pruned", "--stop", "1")).toEqual([ids.applied]);
    expect(await idsOf("--state", "pruned", "--name", "2_*")).toEqual([ids.refused]);
    expect(await idsOf("--state", "pruned", "--company", "acme", "--limit", "1")).toEqual([ids.refused]);
    expect(await idsOf("--state", "pruned", "--before", String(ids.refused))).toEqual([ids.applied]);
    expect(await idsOf("--state", "pruned", "--stop", "3")).toEqual([]);
  });

  test("are not tried again when they are selected, with the reason", async () => {
    let errors = "";
    const stderr = { write: (text: string) => (errors += text) };
    const args = ["file", "retry", "--state", "pruned", "--yes", "--config", config];
    const exitCode = await runCli(args, { env: {}, cwd: "/", stdout: { write: () => true }, stderr });
    expect([exitCode, errors]).toEqual([1, expect.stringContaining("have the file sent again")]);
    expect(errors).toContain("1 file (2) not tried again: its content was pruned on");
  });
});
