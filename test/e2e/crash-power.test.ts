/**
 * What a power failure takes and kill -9 cannot: pages that were never written back. Receipts are renamed without a sync of
 * their own, so they may be missing, empty or torn when the machine comes up again; the ledger has their content.
 */
import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CrashCheck, untilQuiet } from "./crash-check.ts";
import { CrashHost } from "./crash-host.ts";
import { type Chain, chainsOf } from "./crash-orders.ts";
import { CrashPlace } from "./crash-round.ts";
import { changeRows } from "../support/site-database.ts";
import { itOnSqlite } from "../support/store-dialect.ts";

let place: CrashPlace;
let host: CrashHost;
let chains: readonly Chain[];

beforeAll(async () => {
  place = await CrashPlace.make();
  host = new CrashHost(place.site, place.folders);
  chains = chainsOf("p", { hasOtherDisk: place.hasOtherDisk });
  const run = await place.start({});
  if (run !== undefined) await host.connect(run);
  await host.send(chains);
  await untilQuiet(place.site, place.folders);
  await host.close();
  await place.site.kill();
});
afterAll(() => place.end());

function problems(): string[] {
  return CrashCheck.run(
    place.site,
    host.sent.values(),
    chains.flatMap((chain) => chain.stops),
  );
}

function receiptsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".receipt.xml"))
    .map((name) => join(folder, name));
}

/** What a power failure does to a file that was not synced: missing, empty, torn, or full of zeros. */
const losses: readonly ((path: string) => void)[] = [
  (path) => rmSync(path),
  (path) => truncateSync(path),
  (path) => truncateSync(path, 100),
  (path) => writeFileSync(path, Buffer.alloc(statSync(path).size)),
];

function tearReceipts(): number {
  const receipts = ["receipts", "error"].flatMap((name) => receiptsBelow(place.site.path(name)));
  for (const [index, path] of receipts.entries()) losses[index % losses.length]?.(path);
  return receipts.length;
}

function changeMeta(key: string, value: string): void {
  changeRows(place.site, "update meta set value = ? where key = ?", value, key);
}

itOnSqlite(
  "receipts that were torn while the same boot went on are not looked for: nothing but a power failure tears them",
  async () => {
    const torn = tearReceipts();
    expect(torn).toBeGreaterThan(20);
    await place.start({});
    await place.site.kill();
    expect(problems().length).toBeGreaterThan(20);
  },
);

test("after a power failure the receipts of the last minutes are written again before anything else", async () => {
  changeMeta("boot_id", "another boot");
  await place.start({});
  expect(problems()).toEqual([]);
  expect(await place.verifyLedger()).toEqual([]);
  await untilQuiet(place.site, place.folders);
  await place.site.kill();
});

itOnSqlite("a death while they are written again changes nothing: the next start begins anew", async () => {
  tearReceipts();
  changeMeta("boot_id", "yet another boot");
  expect(await place.start({ DROPGATE_KILL_POINT: "rename@file-away.writeReceipt:5" })).toBeUndefined();
  expect(problems()).not.toEqual([]);
  await place.start({});
  expect(problems()).toEqual([]);
  await untilQuiet(place.site, place.folders);
  await place.site.kill();
});
