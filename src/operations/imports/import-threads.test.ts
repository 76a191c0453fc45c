import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { DropgateError } from "../../lib/errors.ts";
import { preparePartners } from "./business-partners.ts";
import { prepareCustomers } from "./import-customers.ts";
import { prepareLoads } from "./import-loads.ts";
import { prepareOrders } from "./import-orders.ts";
import { defaultJsonLimits, type PreparedKind } from "./import-preparation.ts";
import { prepareStops } from "./import-stops.ts";
import { createImportThreads, type ImportThreadsOptions } from "./import-threads.ts";
import { prepareUsers } from "./import-users.ts";

/** For tests that leave nothing in them. */
const common = createImportThreads({ maxBodyBytes: () => 20_000_000 });
afterAll(() => common.stop(AbortSignal.abort()));

function makeThreads(options: Partial<ImportThreadsOptions> = {}) {
  const threads = createImportThreads({ maxBodyBytes: () => 20_000_000, ...options });
  onTestFinished(() => threads.stop(AbortSignal.abort()));
  return threads;
}

const limits = defaultJsonLimits;
const many = (value: string) => Buffer.from(`{"companyCode":"ACME","x":[${`${value},`.repeat(400_000)}0]}`);

function bodyOf(list: string, entries: readonly unknown[]) {
  return Buffer.from(JSON.stringify({ companyCode: "ACME", [list]: entries }));
}

const documents = [{ documentName: "a.txt", documentData: Buffer.from("signed").toString("base64") }];
const stops = Array.from({ length: 250 }, (_, index) => ({
  ...{ stopNbr: `N${index}`, comments: { commentType: 1 }, to: { contact: { email: null }, address: null } },
  ...(index === 120 ? { documents } : {}),
}));

test.each<[PreparedKind, string, readonly unknown[], (input: never) => unknown]>([
  ["stops", "stops", stops, prepareStops],
  ["orders", "orders", stops.map(({ stopNbr, ...rest }) => ({ orderNbr: stopNbr, ...rest })), prepareOrders],
  ["loads", "loads", [{ loadHeader: { loadNbr: "L1", documents }, stops }], prepareLoads],
  ["customers", "customers", [{ accountNumber: "A", name: null }, { accountNumber: "B" }], prepareCustomers],
  ["businessPartners", "businessPartners", [{ partnerCode: "C1" }, { partnerCode: " C2 " }], preparePartners],
  ["users", "users", [{ userName: "ann", password: "open sesame", dob: "1990-1-2" }], prepareUsers],
])("%s are made ready as they would be at once", async (kind, list, entries, prepare) => {
  const documentsDir = join(temporaryFolder(), "documents");
  const bytes = bodyOf(list, entries);
  const given = { companyCode: "ACME", documentsDir };
  const atOnce = await prepare({ ...given, body: JSON.parse(bytes.toString()) } as never);
  const made = await common.prepare(kind, { ...given, bytes, limits });
  expect(made).toEqual(atOnce);
  expect(made.length).toBe(entries.length);
});

test("content of documents is durable before the entries are there", async () => {
  const documentsDir = join(temporaryFolder(), "documents");
  const bytes = bodyOf("stops", [{ stopNbr: "1", documents }]);
  const [change] = await common.prepare("stops", { companyCode: "ACME", documentsDir, bytes, limits });
  const [document] = change?.documents ?? [];
  const { sha256 = "" } = document ?? {};
  expect(existsSync(join(documentsDir, sha256.slice(0, 2), sha256.slice(2, 4), sha256))).toBe(true);
});

test("the main thread has its turns while a body of 400,000 values is read", async () => {
  let isReading = true;
  const reading = makeThreads().check({ bytes: many("[]"), limits, companyCode: "ACME" });
  void reading.finally(() => {
    isReading = false;
  });
  let turns = 0;
  for (; isReading; turns += 1) await setImmediate();
  expect((await reading).byteLength).toBeGreaterThan(1_000_000);
  expect(turns).toBeGreaterThan(10);
});

test("what is wrong with a body is told as it would be at once", async () => {
  const threads = common;
  const given = { companyCode: "ACME", documentsDir: "", limits };
  await expect(threads.check({ ...given, bytes: Buffer.from('{"a":') })).rejects.toMatchObject({
    code: "notJson",
  });
  const small = { ...given, limits: { maxDepth: 32, maxValues: 1_000 } };
  await expect(threads.check({ ...small, bytes: many("[]") })).rejects.toMatchObject({ code: "tooLarge" });
  const bytes = bodyOf("stops", [{ stopNbr: "1" }, { stopNbr: "" }, { deliveryAttempt: -1 }]);
  const refused = await threads.prepare("stops", { ...given, bytes }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DropgateError);
  expect(refused).toMatchObject({
    faults: [
      { code: "missing", path: "stops[1].stopNbr" },
      { code: "missing", path: "stops[2].stopNbr" },
      { code: "wrongType", path: "stops[2].deliveryAttempt" },
    ],
  });
});

test("a body that cannot be read in time is refused, and the next one is read", async () => {
  const hasty = makeThreads({ threads: 1, deadlineMs: 1 });
  const body = () => ({ bytes: many("{}"), limits, companyCode: "ACME" });
  await expect(hasty.check(body())).rejects.toMatchObject({ code: "tooLarge", message: /could not be read/ });
  await expect(hasty.check(body())).rejects.toMatchObject({ code: "tooLarge" });
});

test("companies have their turns: one that sends much does not hold up another", async () => {
  const threads = makeThreads({ threads: 1 });
  const done: string[] = [];
  const send = async (companyCode: string, name: string) => {
    await threads.check({ bytes: Buffer.from("[]"), limits, companyCode });
    done.push(name);
  };
  await Promise.all([send("A", "a1"), send("A", "a2"), send("A", "a3"), send("B", "b1")]);
  expect(done.indexOf("b1")).toBeLessThan(done.indexOf("a3"));
});

test("a company that is not alone leaves a thread to the others", async () => {
  const threads = makeThreads({ clock: { now: () => 0 } });
  const done: string[] = [];
  const send = async (companyCode: string, name: string, bytes = Buffer.from("[]")) => {
    const all = { ...limits, maxValues: 10_000_000 };
    await threads.check({ bytes, limits: all, companyCode });
    done.push(name);
  };
  // From here on both threads are there, and the other company counts as there.
  await Promise.all([send("A", "first"), send("B", "first")]);
  const long = Buffer.from(`[${"[],".repeat(1_500_000)}0]`);
  const reading = [send("A", "a1", Buffer.from(long)), send("A", "a2", long)];
  await send("B", "b1");
  await Promise.all(reading);
  expect(done).toEqual(["first", "first", "b1", "a1", "a2"]);
});

test("a stop finishes what is in hand and refuses what comes", async () => {
  const threads = makeThreads();
  const reading = threads.check({ bytes: many("1"), limits, companyCode: "ACME" });
  await threads.stop(AbortSignal.timeout(60_000));
  expect((await reading).byteLength).toBeGreaterThan(800_000);
  const late = threads.check({ bytes: Buffer.from("[]"), limits, companyCode: "ACME" });
  await expect(late).rejects.toMatchObject({ code: "overloaded" });
});

test("threads that have had nothing to do for a while are ended, and made anew for the next body", async () => {
  const threads = makeThreads({ idleMs: 1 });
  for (let round = 0; round < 3; round += 1) {
    await threads.check({ bytes: Buffer.from("[]"), limits, companyCode: "ACME" });
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
  }
});
