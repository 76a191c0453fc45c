/**
 * When exports are made, and of what.
 *
 *   planned --due time has come--> made: its window is (watermark, newest completion], its delivery waits
 *      ^                             |
 *      \-----next due time-----------/
 *
 * One transaction fixes the window, moves the watermark and the due time on and puts the delivery in the queue. So after a
 * crash, and with two processes at the same moment (the daemon and a command), each completion is in one window of an
 * export and each due time makes one export. However many due times have gone by, one export makes up for them: it has
 * everything since the last one.
 */
import { nextDue, readCronSchedule } from "../domain/time/cron-schedule.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logs/log.ts";
import { soleOwnership } from "../store/cluster/ownership.ts";
import { TakenCompanies } from "../lib/taken-companies.ts";
import type { Store } from "../store/database/database.ts";
import { FencedError } from "../store/database/fence.ts";
import { insertDelivery } from "../store/outbound/deliveries.ts";
import {
  type ExportSchedule,
  findExportSchedule,
  listExportSchedules,
  moveWatermark,
  planExport,
} from "../store/outbound/export-schedules.ts";
import {
  countWindow,
  type ExportForm,
  type ExportRecord,
  findExportOf,
  insertExport,
  isExportKept,
  newestCompletionAfter,
} from "../store/outbound/exports.ts";
import { findTargetId } from "../store/outbound/outbound-targets.ts";
import type { Transaction } from "../store/database/groups/group-commit.ts";
import { hourMs } from "../lib/durations.ts";

/** One export as the configuration has it. */
export interface ExportPlan {
  readonly companyId: number;
  readonly name: string;
  /** Null for one that is made only when it is asked for. Both have been checked. */
  readonly when: { readonly schedule: string; readonly zone: string } | null;
  readonly form: ExportForm;
  /** The name of the target. */
  readonly target: string;
}

export interface MadeExport {
  readonly made: ExportRecord;
  readonly deliveryId: number;
  /** What the delivery is called. */
  readonly deliveryName: string;
  /** How many completions it has. */
  readonly count: number;
}

export interface ExportNames {
  /** What the delivery is called: the document, or the folder of single files. */
  readonly delivery: string;
  /** The folder, for an export of single files. */
  readonly directory?: string;
  /** The file that comes last and says that all are there. */
  readonly manifest: string;
}

/** The manifest of an export of single files, in its folder. */
export const manifestOfFolder = "manifest.xml";

const numberLength = 6;

/** Files are `<company>_<name>_<number>.xml`; folders `<name>-<UTC day on which it was made>-<number>`. */
export function exportNames(made: ExportRecord): ExportNames {
  const number = String(made.sequenceNbr).padStart(numberLength, "0");
  if (made.form === "files") {
    const day = new Date(made.createdAt).toISOString().slice(0, 10);
    const directory = `${made.name}-${day}-${number}`;
    return { delivery: directory, directory, manifest: manifestOfFolder };
  }
  const base = `${made.companyCode.toLowerCase()}_${made.name}_${number}`;
  return { delivery: `${base}.xml`, manifest: `${base}.manifest.xml` };
}

/** A clock may be set back by less than this without an export being made a second time. */
const clockToleranceMs = hourMs;

function dueAfter(plan: ExportPlan, after: number): number | null {
  if (plan.when === null) return null;
  const reading = readCronSchedule(plan.when.schedule);
  if (reading.kind === "faulty") throw new Error(`the schedule of the export ${plan.name} ${reading.fault}`);
  return nextDue(reading.schedule, plan.when.zone, after);
}

function scheduleText(plan: ExportPlan): string {
  return JSON.stringify(plan.when);
}

type Step = "none" | "plan" | "make";

/** What is to be done for an export at this moment. */
function stepOf(plan: ExportPlan, row: ExportSchedule | undefined, now: number): Step {
  if (row === undefined || row.schedule !== scheduleText(plan)) return "plan";
  if (row.nextDueAt === null) return "none";
  if (row.nextDueAt <= now) return "make";
  // Later than the next time there is: the clock was ahead, and has been set back.
  const latest = dueAfter(plan, now + clockToleranceMs) ?? row.nextDueAt;
  return row.nextDueAt > latest ? "plan" : "none";
}

async function targetIdOf(tx: Transaction, { companyId, target, name }: ExportPlan): Promise<number> {
  const id = await findTargetId(tx, { companyId, name: target });
  if (id === undefined) throw new Error(`there is no target ${target} for the export ${name}`);
  return id;
}

async function deliver(tx: Transaction, plan: ExportPlan, made: ExportRecord, now: number) {
  const { delivery: deliveryName } = exportNames(made);
  const { companyId, name } = plan;
  const targetId = await targetIdOf(tx, plan);
  const line = { companyId, targetId, kind: "export", subjectId: made.id, orderKey: name } as const;
  const deliveryId = await insertDelivery(tx, { ...line, name: deliveryName, now });
  return { made, deliveryId, deliveryName, count: await countWindow(tx, made) };
}

/** The export's row; an export that there has never been begins here. */
async function ensurePlanned(tx: Transaction, plan: ExportPlan, now: number): Promise<ExportSchedule> {
  const { companyId, name } = plan;
  const known = await findExportSchedule(tx, plan);
  if (known !== undefined) return known;
  const planned = { companyId, name, schedule: scheduleText(plan), nextDueAt: dueAfter(plan, now) };
  await planExport(tx, planned);
  return { ...planned, watermark: 0 };
}

/**
 * Makes an export of everything since the last one, also when that is nothing: the receiver sees that the export has run.
 * `dueAt` is null for one that was asked for. In one transaction.
 */
export async function makeExport(
  tx: Transaction,
  plan: ExportPlan,
  { now, dueAt }: { readonly now: number; readonly dueAt: number | null },
): Promise<MadeExport> {
  const { companyId, name, form } = plan;
  const { watermark } = await ensurePlanned(tx, plan, now);
  const last = await newestCompletionAfter(tx, { companyId, after: watermark });
  if (!(await moveWatermark(tx, { companyId, name, from: watermark, to: last }))) {
    throw new Error(`the export ${name} was made by another process at this moment`);
  }
  const window = { afterCompletionId: watermark, lastCompletionId: last };
  const made = await insertExport(tx, { companyId, name, ...window, form, dueAt, createdAt: now });
  return await deliver(tx, plan, made, now);
}

export type AgainOutcome =
  | { readonly kind: "queued"; readonly again: MadeExport }
  /** The newest number, undefined when it has not run yet. */
  | { readonly kind: "unknown"; readonly newest: number | undefined }
  /** What it was made of is kept no longer. */
  | { readonly kind: "forgotten"; readonly madeAt: number };

/** Delivers an export that was made before once more, with the same files under the same names. In one transaction. */
export async function deliverAgain(
  tx: Transaction,
  plan: ExportPlan,
  { sequenceNbr, now }: { readonly sequenceNbr: number; readonly now: number },
): Promise<AgainOutcome> {
  const made = await findExportOf(tx, { ...plan, sequenceNbr });
  if (made === undefined) {
    return { kind: "unknown", newest: (await findExportOf(tx, plan))?.sequenceNbr };
  }
  if (!(await isExportKept(tx, made.id))) return { kind: "forgotten", madeAt: made.createdAt };
  return { kind: "queued", again: await deliver(tx, plan, made, now) };
}

export interface ExportRunDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whose exports are made. Without it, those of all. */
  readonly companies?: Pick<TakenCompanies, "has">;
}

function keyOf({ companyId, name }: Pick<ExportPlan, "companyId" | "name">): string {
  return `${companyId} ${name}`;
}

/** Checks once more within the transaction: another process may have done it since. */
async function takeStep(tx: Transaction, plan: ExportPlan, now: number): Promise<MadeExport | undefined> {
  const row = await findExportSchedule(tx, plan);
  const step = stepOf(plan, row, now);
  if (step === "none") return undefined;
  const made =
    step === "make" && row !== undefined
      ? await makeExport(tx, plan, { now, dueAt: row.nextDueAt })
      : undefined;
  const { companyId, name } = plan;
  await planExport(tx, { companyId, name, schedule: scheduleText(plan), nextDueAt: dueAfter(plan, now) });
  return made;
}

/** What has left the configuration is not due any more; it keeps its watermark for when it comes back. */
async function unplan({ store, log }: ExportRunDeps, { companyId, name }: ExportSchedule): Promise<void> {
  await store.write(companyId, (tx) =>
    planExport(tx, { companyId, name, schedule: "null", nextDueAt: null }),
  );
  log.info({ companyId, export: name }, "an export is no longer in the configuration");
}

/** Another node has the company meanwhile: the export is its affair. */
function unlessFenced(error: unknown): undefined {
  if (error instanceof FencedError) return undefined;
  throw error;
}

/**
 * Makes the exports that are due, and brings what is planned in line with the configuration. `plans` are all exports of
 * the configuration. One that fails is logged and retried the next time; the others go on.
 */
export async function runDueExports(
  deps: ExportRunDeps,
  plans: readonly ExportPlan[],
): Promise<readonly MadeExport[]> {
  const { store, clock, log, companies = new TakenCompanies(soleOwnership) } = deps;
  const rows = new Map((await listExportSchedules(store.read)).map((row) => [keyOf(row), row]));
  const all: MadeExport[] = [];
  for (const plan of plans) {
    const row = rows.get(keyOf(plan));
    rows.delete(keyOf(plan));
    if (!companies.has(plan.companyId)) continue;
    try {
      if (stepOf(plan, row, clock.now()) === "none") continue;
      const made = await store
        .write(plan.companyId, (tx) => takeStep(tx, plan, clock.now()))
        .catch(unlessFenced);
      if (made !== undefined) all.push(made);
    } catch (error) {
      log.error({ err: error, companyId: plan.companyId, export: plan.name }, "an export could not be made");
    }
  }
  for (const row of rows.values())
    if (row.nextDueAt !== null && companies.has(row.companyId)) await unplan(deps, row).catch(unlessFenced);
  return all;
}
