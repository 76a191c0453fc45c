/** Figures of files over time: written once a minute, added up, kept over restarts, and bounded. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { queryFileRates } from "../../src/app/console/queries/file-rates.ts";
import { FileRates } from "../../src/app/watch/file-rates.ts";
import type { DecidedState } from "../../src/domain/files/file-state.ts";
import { dayMs, hourMs, minuteMs } from "../../src/lib/durations.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { addCompany } from "../../src/operations/users/company-admin.ts";
import { listCompanies } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const begin = Date.UTC(2026, 10, 5, 8, 30, 10);
const log = createLogger({ level: "silent" });
let store: Store;
let now: number;
let ids: readonly number[];
const clock = { now: () => now };

beforeEach(async () => {
  store = await openFreshStore(temporaryFolder());
  now = begin;
  for (const code of ["ACME", "OTHER"]) await addCompany({ store, clock }, code);
  ids = (await listCompanies(store.read)).map(({ id }) => id);
});

afterEach(() => store.close());

/** A counter that writes when it is told to. */
function counting(own: Pick<Store, "writeSoon"> = store): FileRates {
  return new FileRates({ store: own, clock, log, everyMs: dayMs });
}

function decide(rates: FileRates, companyId: number, state: DecidedState, delayMs: number): void {
  const file = {
    companyId,
    companyCode: "C",
    fileId: 1,
    name: "n.xml",
    channel: "sftp",
    userName: null,
  } as const;
  rates.decided({ ...file, state, faults: [], at: now });
  rates.receiptWritten(companyId, delayMs);
}

async function asked(span: "4h" | "24h" | "14d", companyIds = ids) {
  const companies = companyIds.map((id) => ({ id, code: String(id) }));
  const context = { read: store.read, now } as Parameters<typeof queryFileRates>[0];
  return await queryFileRates(context, { companies, isOperator: false }, { span });
}

const sum = (found: Awaited<ReturnType<typeof asked>>, what: "applied" | "refused" | "others") =>
  found.points.reduce((total, point) => total + point[what], 0);

test("what is counted before and after a restart within one minute adds up", async () => {
  const first = counting();
  decide(first, ids[0] ?? 0, "applied", 20);
  await first.stop();
  const second = counting();
  decide(second, ids[0] ?? 0, "applied", 40);
  decide(second, ids[0] ?? 0, "refused", 40);
  decide(second, ids[0] ?? 0, "duplicate", 40);
  await second.stop();
  for (const span of ["4h", "24h", "14d"] as const) {
    const found = await asked(span);
    expect([sum(found, "applied"), sum(found, "refused"), sum(found, "others")]).toEqual([2, 1, 1]);
    expect(found.points.filter(({ p99Ms }) => p99Ms !== undefined)).toHaveLength(1);
    expect(found.medianMs).toBeGreaterThan(20);
    expect(found.p99Ms).toBeLessThan(64);
  }
});

test("points have no gap, the last one is of this moment, and others' companies are not in them", async () => {
  const rates = counting();
  decide(rates, ids[0] ?? 0, "applied", 20);
  now += 90 * minuteMs;
  decide(rates, ids[1] ?? 0, "applied", 20);
  await rates.stop();
  const [four, day, weeks] = [await asked("4h"), await asked("24h"), await asked("14d")];
  expect([four.points.length, day.points.length, weeks.points.length]).toEqual([240, 288, 336]);
  for (const { points, stepMinutes } of [four, day, weeks]) {
    expect(now - (points.at(-1)?.at ?? 0)).toBeLessThan(stepMinutes * minuteMs);
    expect(
      points.every(
        ({ at }, index) => index === 0 || at - (points[index - 1]?.at ?? 0) === stepMinutes * minuteMs,
      ),
    ).toBe(true);
  }
  expect(sum(four, "applied")).toBe(2);
  expect(sum(await asked("4h", ids.slice(1)), "applied")).toBe(1);
});

test("minutes go after a day, hours after two weeks", async () => {
  const rates = counting();
  const [companyId = 0] = ids;
  for (const later of [0, 2 * dayMs, 16 * dayMs]) {
    now = begin + later;
    decide(rates, companyId, "applied", 20);
    await rates.keep();
  }
  await rates.stop();
  const rows = await store.read.selectFrom("file_rates").select(["step_minutes", "at"]).execute();
  const kept = (step: number) => rows.filter((row) => row.step_minutes === step).map(({ at }) => at);
  expect(kept(1)).toEqual([now - (now % minuteMs)]);
  expect(kept(60)).toEqual([begin + 2 * dayMs, now].map((at) => at - (at % hourMs)));
});

test("what cannot be written is written later", async () => {
  let isFull = true;
  const failing: Pick<Store, "writeSoon"> = {
    writeSoon: (whose, work) =>
      isFull ? Promise.reject(new Error("the disk is full")) : store.writeSoon(whose, work),
  };
  const rates = counting(failing);
  decide(rates, ids[0] ?? 0, "applied", 20);
  await rates.keep();
  now += minuteMs;
  decide(rates, ids[0] ?? 0, "applied", 20);
  isFull = false;
  await rates.stop();
  const found = await asked("4h");
  expect(found.points.filter(({ applied }) => applied === 1)).toHaveLength(2);
});
