/**
 * How many files of a company were decided in each minute of the last day and each hour of the last two weeks, and how long
 * they took from their arrival to their receipt. Minutes and hours without a file have no row.
 */
import {
  addDelays,
  type DelayCounts,
  delaysFromText,
  delaysToText,
} from "../../domain/files/delay-counts.ts";
import { dayMs, hourMs, minuteMs } from "../../lib/durations.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

/** Minutes of a row: those of one minute, or of one hour. */
const minutesOfHour = 60;
const rateSteps = [1, minutesOfHour] as const;
export type RateStep = (typeof rateSteps)[number];

/** For how long rows of each step are kept. */
const ratesKeptMs: Readonly<Record<RateStep, number>> = { 1: dayMs + hourMs, 60: 15 * dayMs };

/** What became of files within some time. */
export interface FileRate {
  readonly applied: number;
  readonly refused: number;
  /** Superseded files and duplicates. */
  readonly others: number;
  readonly delays: DelayCounts;
}

export interface FileRateAt extends FileRate {
  readonly companyId: number;
  /** When the minute or the hour began, milliseconds UTC. */
  readonly at: number;
}

export interface RatesAsked {
  readonly companyId: number;
  readonly stepMinutes: RateStep;
  /** From this moment on, milliseconds UTC. */
  readonly since: number;
}

type RateRow = RowOf<"file_rates">;
type RateKey = Pick<RateRow, "companyId" | "stepMinutes" | "at">;

const columns = namedColumns("company_id", "at", "applied", "refused", "others", "delays");

const rateAt = prepareQuery<RateKey, Omit<RateRow, "stepMinutes">>((db, arg) =>
  db
    .selectFrom("file_rates")
    .select(columns)
    .where("company_id", "=", arg("companyId"))
    .where("step_minutes", "=", arg("stepMinutes"))
    .where("at", "=", arg("at")),
);

const ratesSince = prepareQuery<RatesAsked, Omit<RateRow, "stepMinutes">>((db, arg) =>
  db
    .selectFrom("file_rates")
    .select(columns)
    .where("company_id", "=", arg("companyId"))
    .where("step_minutes", "=", arg("stepMinutes"))
    .where("at", ">=", arg("since"))
    .orderBy("at"),
);

const saveRate = prepareQuery<RateRow>((db, arg) =>
  db
    .insertInto("file_rates")
    .values(
      namedArguments(
        arg,
        ...(["company_id", "step_minutes", "at", "applied", "refused", "others", "delays"] as const),
      ),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["company_id", "step_minutes", "at"])
        .doUpdateSet(excluded({ applied: 0, refused: 0, others: 0, delays: "" })),
    ),
);

const removeRates = prepareQuery<{ companyId: number; stepMinutes: number; before: number }>((db, arg) =>
  db
    .deleteFrom("file_rates")
    .where("company_id", "=", arg("companyId"))
    .where("step_minutes", "=", arg("stepMinutes"))
    .where("at", "<", arg("before")),
);

function readRate({ delays, ...row }: Omit<RateRow, "stepMinutes">): FileRateAt {
  return { ...row, delays: delaysFromText(delays) };
}

/** Both together. */
export function addRates(one: FileRate, other: FileRate): FileRate {
  return {
    applied: one.applied + other.applied,
    refused: one.refused + other.refused,
    others: one.others + other.others,
    delays: addDelays(one.delays, other.delays),
  };
}

async function addToRow(tx: Transaction, key: RateKey, rate: FileRate): Promise<void> {
  const before = await rateAt.find(tx, key);
  const { delays, ...counts } = before === undefined ? rate : addRates(readRate(before), rate);
  await saveRate.run(tx, { ...key, ...counts, delays: delaysToText(delays) });
}

/** Adds what came of files to the minute and to the hour of each, and removes what is older than is kept. */
export async function addFileRates(
  tx: Transaction,
  added: readonly FileRateAt[],
  now: number,
): Promise<void> {
  for (const { companyId, at, ...rate } of added) {
    for (const stepMinutes of rateSteps) {
      const begin = at - (at % (stepMinutes * minuteMs));
      await addToRow(tx, { companyId, stepMinutes, at: begin }, rate);
    }
  }
  for (const companyId of new Set(added.map((one) => one.companyId)))
    for (const stepMinutes of rateSteps)
      await removeRates.run(tx, { companyId, stepMinutes, before: now - ratesKeptMs[stepMinutes] });
}

export interface HourCount {
  readonly companyId: number;
  /** When the hour began, milliseconds UTC. */
  readonly at: number;
  readonly applied: number;
  readonly refused: number;
}

/** What became of the files of these companies in each hour from one moment to another; hours without a file are left out. */
export async function listHourCounts(
  read: Reader,
  span: { readonly companyIds: readonly number[]; readonly since: number; readonly until: number },
): Promise<readonly HourCount[]> {
  return await read
    .selectFrom("file_rates")
    .select(namedColumns("company_id", "at", "applied", "refused"))
    .where("company_id", "in", [...span.companyIds])
    .where("step_minutes", "=", minutesOfHour)
    .where("at", ">=", span.since)
    .where("at", "<", span.until)
    .execute();
}

/** Those of a company, the oldest first. */
export async function listFileRates(read: Reader, asked: RatesAsked): Promise<readonly FileRateAt[]> {
  return (await ratesSince.rows(read, asked)).map(readRate);
}
