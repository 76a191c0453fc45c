import { setImmediate } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { ledgerNumbers } from "../../../test/support/ledger-numbers.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import { createLimitedLog } from "../../lib/logs/limited-log.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { StoreError } from "../../lib/store-error.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import { enterFile } from "../../store/ledger/files.ts";
import type { FilingTask } from "../places/file-away.ts";
import { createLocations } from "../places/locations.ts";
import { LaneRunner, type PipelineSettings } from "./lane-runner.ts";
import { toWaitingFile, type WaitingFile } from "./waiting-file.ts";
import { waitToPass } from "../../../test/support/wait-to-pass.ts";

let store: Store;
let companyId: number;
let decisions: number;
let filed: { readonly task: FilingTask; readonly done: () => void }[];
let unfiled: number;
let ended: string[];
let underWay: Map<string, PromiseWithResolvers<PreparedDocument>>;
let logLines: string[];
let isStoreDown: boolean;

beforeEach(async () => {
  store = await openFreshStore(temporaryFolder());
  onTestFinished(() => store.close());
  companyId = (await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }))).company
    .id;
  [decisions, unfiled, filed, ended, logLines] = [0, 0, [], [], []];
  underWay = new Map();
  isStoreDown = false;
});

function open(changes: Partial<PipelineSettings> = {}): LaneRunner {
  const log = createLogger({ level: "info", destination: { write: (line) => logLines.push(line) } });
  const settings: PipelineSettings = {
    ...{ groupSize: 3, settleMs: 60_000, incompleteGraceMs: 1, giveUpAfterMs: 3_600_000, storePauseMs: 5 },
    ...{ maxFileBytes: 2 ** 20, rulesFor: () => ({ names: "strict", lateFiles: "refuse" }) },
    ...changes,
  };
  const runner = new LaneRunner(
    { id: companyId, code: "ACME" },
    {
      store: {
        read: store.read,
        write(whose, work) {
          decisions += 1;
          if (isStoreDown && typeof whose === "number")
            return Promise.reject(new StoreError("unavailable", "the page cannot be read", undefined));
          return store.write(whose, work);
        },
      },
      documents: {
        prepareFile(path) {
          const one = Promise.withResolvers<PreparedDocument>();
          underWay.set(path.slice("/in/".length), one);
          return one.promise;
        },
      },
      filing: {
        get length() {
          return unfiled;
        },
        add: (task, _key, { done }) => void filed.push({ task, done }),
      },
      ...{ locations: createLocations("/srv"), ledgerNumbers, settings: () => settings, log },
      ...{ clock: { now: () => 5_000 }, failing: createLimitedLog(log) },
      onDecided: ({ name }, { state }) => void ended.push(`${name} ${state}`),
      onReceipt: () => undefined,
      onGone: ({ name }) => void ended.push(`${name} gone`),
      onFiled: ({ name }) => void ended.push(`${name} filed`),
    },
  );
  onTestFinished(() => runner.stop());
  return runner;
}

async function waiting(stop: string, minute = 0): Promise<WaitingFile> {
  const name = `${stop}_20261105_08${String(minute).padStart(2, "0")}00.xml`;
  const about = { companyId, name, channel: "sftp", userName: "host", receivedAt: 3_000, size: 9 } as const;
  const id = await store.write(companyId, (tx) =>
    enterFile(tx, { ...about, nameTime: null, location: `/in/${name}` }),
  );
  return toWaitingFile({ ...about, path: `/in/${name}`, sequence: id, id });
}

function readAs(stopNbr: string): PreparedDocument {
  const index = { hasStopAssignment: false, markAsReceived: false, hasTimeWindow: false };
  const change = { function: "01", stopNbr, stopJson: JSON.stringify({ stopNbr }), index } as const;
  return { kind: "read", sha256: stopNbr, size: 9, instructions: [change] };
}

/** Ends the reading of a file; by the time this resolves the lane has seen it. */
async function end(file: WaitingFile, prepared = readAs(file.name.split("_")[0] ?? "")): Promise<void> {
  underWay.get(file.name)?.resolve(prepared);
  underWay.delete(file.name);
  await setImmediate();
}

test("a full group is waited for, but not by the last files", async () => {
  const runner = open();
  const files = await Promise.all([1, 2, 3, 4, 5].map((minute) => waiting(`s${minute}`, minute)));
  const begun = waitToPass(() => expect(underWay.size).toBe(5));
  for (const file of files) runner.add(file);
  await begun;
  decisions = 0;
  const [one, two, three, four, five] = files;
  if (!one || !two || !three || !four || !five) throw new Error("there are five files");
  for (const file of [one, two]) await end(file);
  expect(decisions).toBe(0);
  await end(three);
  expect(decisions).toBe(3);
  await waitToPass(() => expect(filed).toHaveLength(3));
  // Two are left, which no group could be too small for.
  await end(four);
  expect(decisions).toBe(4);
  await waitToPass(() => expect(filed).toHaveLength(4));
  await end(five);
  await waitToPass(() => expect(filed).toHaveLength(5));
});

test("nothing is decided while the filing is a thousand files behind, and it goes on when a file is filed", async () => {
  const runner = open();
  const [first, second] = [await waiting("a", 1), await waiting("b", 2)];
  runner.add(first);
  await setImmediate();
  await end(first);
  await waitToPass(() => expect(filed).toHaveLength(1));
  unfiled = 1_025;
  decisions = 0;
  runner.add(second);
  await setImmediate();
  await end(second);
  expect(decisions).toBe(0);
  unfiled = 1_024;
  filed[0]?.done();
  await waitToPass(() => expect(filed).toHaveLength(2));
  expect(ended).toEqual([`${first.name} applied`, `${first.name} filed`, `${second.name} applied`]);
});

test("a file that another process has decided is gone, and the others of its group are decided", async () => {
  const runner = open();
  const [gone, other] = [await waiting("a", 1), await waiting("b", 2)];
  await store.write(companyId, (tx) =>
    tx
      .updateTable("files")
      .set({ state: "applied" })
      .where("id", "=", gone.id ?? 0)
      .execute(),
  );
  const release = runner.hold();
  for (const file of [gone, other]) runner.add(file);
  release();
  await setImmediate();
  for (const file of [gone, other]) await end(file);
  await waitToPass(() =>
    expect(new Set(ended)).toEqual(new Set([`${gone.name} gone`, `${other.name} applied`])),
  );
  expect([runner.size, filed.length]).toEqual([0, 1]);
});

test("no file is looked at again after the stop", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const runner = open();
  const file = await waiting("a");
  // It is not new: then it is put aside at once when it cannot be read.
  file.stall = { reason: "unreadable", message: "", since: performance.now() };
  runner.add(file);
  await setImmediate();
  await end(file, { kind: "unreadable", systemCode: "EACCES", message: "forbidden" });
  expect([runner.held().counts.unreadable, vi.getTimerCount()]).toEqual([1, 1]);
  await runner.stop();
  expect(vi.getTimerCount()).toBe(0);
  runner.add(await waiting("b"));
  expect([runner.size, underWay.size]).toEqual([1, 0]);
});

test("the log has one line of a decided file, with how long it took, and the first five reasons of a refused one", async () => {
  const runner = open();
  const [applied, refused] = [await waiting("a", 1), await waiting("b", 2)];
  const faults = Array.from(
    { length: 6 },
    (_, at) => ({ code: "xsdMismatch", message: `fault ${at}` }) as const,
  );
  runner.add(applied);
  runner.add(refused);
  await setImmediate();
  await end(applied);
  await end(refused, { kind: "refused", sha256: "b", size: 9, faults, isIncomplete: false });
  await waitToPass(() => expect(filed).toHaveLength(2));
  const lines = logLines.map((line) => JSON.parse(line));
  const about = { company: "ACME", channel: "sftp", user: "host", ms: 2_000 };
  expect(lines).toMatchObject([
    { ...about, msg: "file decided", file: applied.name, fileId: applied.id, state: "applied" },
    { ...about, msg: "file refused", file: refused.name, state: "refused", first: "fault 0" },
  ]);
  expect(lines[0]).not.toHaveProperty("reasons");
  expect(lines[1].reasons).toHaveLength(5);
});

test("a file that the store cannot keep is looked at again after growing pauses", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const pauses = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => {
    // First the spy, which else puts the timer that is not real back at the end of the file.
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  const runner = open({ storePauseMs: 1_000 });
  const file = await waiting("a");
  runner.add(file);
  await setImmediate();
  isStoreDown = true;
  for (const pauseMs of [1_000, 2_000, 4_000]) {
    await end(file);
    await waitToPass(() => expect(pauses.mock.calls.map(([, ms]) => ms)).toContain(pauseMs));
    await vi.advanceTimersByTimeAsync(pauseMs);
    await setImmediate();
  }
});
