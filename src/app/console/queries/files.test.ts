import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ledgerNumbers } from "../../../../test/support/ledger-numbers.ts";
import { loadConfig } from "../../../config/load-config.ts";
import type { FilesAsked } from "../../../endpoints/http/console/pages/files/files-view.ts";
import { ledgerOfEachTest } from "../../../inbound/testing/ledger-fixture.ts";
import { enterFile } from "../../../store/ledger/files.ts";
import { placeText } from "./file-places.ts";
import { queryFiles } from "./files.ts";

const start = Date.UTC(2026, 10, 5);
const ledger = ledgerOfEachTest();

async function configOf(folder: string) {
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, JSON.stringify({ stateDir: folder }));
  const outcome = await loadConfig({ path, cwd: folder, env: {} });
  if (outcome.kind === "faulty") throw new Error("the configuration is faulty");
  return outcome.config;
}

/** Files of the numbers 1 to `count`, a millisecond apart; gives their ids. */
async function fill(count: number, nameOf: (nth: number) => string): Promise<readonly number[]> {
  const { companyId } = ledger;
  return await ledger.store.write("site", async (tx) => {
    const ids: number[] = [];
    for (let nth = 1; nth <= count; nth += 1) {
      const arrival = { receivedAt: start + nth, channel: "sftp", userName: "anna", location: `in/${nth}` };
      ids.push(await enterFile(tx, { companyId, name: nameOf(nth), nameTime: null, size: 1, ...arrival }));
    }
    return ids;
  });
}

test("a search for newer files that ends for its time goes on to newer ones, and back to just what is older", async () => {
  const hits = [3, 1_800];
  const ids = await fill(2_000, (nth) => (hits.includes(nth) ? `hit-${nth}.xml` : `other-${nth}.xml`));
  const { companyId, stateDir, store } = ledger;
  const context = { read: store.read, stateDir, config: await configOf(stateDir), ledgerNumbers };
  const ask = (place: Pick<FilesAsked, "before" | "after">) =>
    queryFiles(
      { ...context, now: start + 10_000, timeLeftMs: () => 0 },
      { companies: [{ id: companyId, code: "ACME" }], isOperator: false },
      { filter: { name: "*it-*" }, limit: 10, isCounted: false, ...place },
    );
  const namesIn = ({ files }: Awaited<ReturnType<typeof ask>>) => files.map(({ name }) => name);
  const after = placeText(ledgerNumbers, { receivedAt: start + 5, id: ids[4] ?? 0 });
  let page = await ask({ after });
  expect([namesIn(page), page.searchedTo]).toEqual([[], null]);
  expect(page.searchedUpTo).toBeGreaterThan(start + 5);
  expect(namesIn(await ask({ before: page.before ?? "" }))).toEqual(["hit-3.xml"]);
  const seen: string[] = [];
  for (let asked = 0; page.searchedUpTo !== undefined && asked < 20; asked += 1) {
    const from = page.searchedUpTo;
    page = await ask({ after: page.after ?? "" });
    if (page.searchedUpTo !== undefined) {
      expect(page.searchedUpTo).toBeGreaterThan(from);
      seen.push(...namesIn(page));
    }
  }
  // The way up has ended: the newest page comes, which looks from the newest down.
  expect([page.after, page.searchedUpTo]).toEqual([null, undefined]);
  expect([...seen, ...namesIn(page)]).toContain("hit-1800.xml");
});
