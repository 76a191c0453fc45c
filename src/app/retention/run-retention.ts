/** One pass of retention: everything that is too old, of all kinds and companies. */
import { setImmediate } from "node:timers/promises";
import { agesOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { oldBefore, type RetentionKind } from "../../domain/retention/retention.ts";
import { settleInterrupted } from "../../inbound/pruning/settle-interrupted.ts";
import type { Company } from "../../store/accounts/companies.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import type { Misdated } from "../../store/database/prune-clock.ts";
import { sparing } from "./clock-guard.ts";
import type { Amount, DueCompany, PruneDeps, Pruner } from "./pruner.ts";
import { pruners } from "./pruners.ts";

export type RetentionConfig = Pick<Config, "companies" | "retention">;

/** What went, or would go, of one kind and company. */
export interface KindAmount extends Amount {
  readonly kind: RetentionKind;
  readonly company: string;
}

export interface RetentionPass {
  readonly config: RetentionConfig;
  /** Of one company alone. */
  readonly company?: string | undefined;
  /** What a clock that was behind has written, which only looks old. */
  readonly misdated?: Misdated | undefined;
  /** Of a pass beside other work, of which no kind may hold that up; without it, the first failure ends the pass. */
  readonly beside?: {
    /** Aborts when the time of a kind that begins now is up. */
    readonly timeUp: () => AbortSignal;
    /** Hears of each kind that failed; `undefined`: its time was up. The others go on. */
    readonly unfinished: (kind: RetentionKind, error: unknown) => void;
  };
}

function dueOf(
  companies: readonly Pick<Company, "id" | "code">[],
  {
    config,
    kind,
    now,
    misdated,
  }: Pick<RetentionPass, "config" | "misdated"> & { kind: RetentionKind; now: number },
): readonly DueCompany[] {
  return companies.flatMap(({ id, code }) => {
    const { [kind]: days } = agesOf(config, code);
    const before = oldBefore(days, now);
    return before === undefined || days === "keep"
      ? []
      : [{ id, code, before: sparing(before, misdated), days }];
  });
}

type Work = (pruner: Pruner, due: readonly DueCompany[], signal: AbortSignal) => ReturnType<Pruner["prune"]>;

/** Has the kind done; of one that is not, nothing is known. */
function boundedBy(beside: RetentionPass["beside"], work: Work): Work {
  if (beside === undefined) return work;
  return async (pruner, due, signal) => {
    const timeUp = beside.timeUp();
    try {
      return await work(pruner, due, AbortSignal.any([signal, timeUp]));
    } catch (error) {
      if (signal.aborted) throw error;
      beside.unfinished(pruner.kind, error === timeUp.reason ? undefined : error);
      return new Map();
    }
  };
}

async function goThrough(
  deps: PruneDeps,
  { config, company, misdated, beside }: RetentionPass,
  { work, signal }: { readonly work: Work; readonly signal: AbortSignal },
): Promise<readonly KindAmount[]> {
  const all = await listCompanies(deps.store.read);
  const companies = company === undefined ? all : all.filter(({ code }) => code === company);
  const amounts: KindAmount[] = [];
  const bounded = boundedBy(beside, work);
  for (const pruner of pruners) {
    const { kind } = pruner;
    const due = dueOf(companies, { config, kind, misdated, now: deps.now });
    if (due.length === 0) continue;
    const found = await bounded(pruner, due, signal);
    for (const { id, code } of due) {
      const amount = found.get(id);
      if (amount !== undefined && amount.count > 0) amounts.push({ kind, company: code, ...amount });
    }
    await setImmediate();
  }
  return amounts;
}

/** Counts what a pass would remove. Rejects when aborted. */
export function countOld(
  deps: PruneDeps,
  pass: RetentionPass,
  signal: AbortSignal,
): Promise<readonly KindAmount[]> {
  return goThrough(deps, pass, {
    signal,
    work: (pruner, due, stopping) => pruner.wouldGo(deps, due, stopping),
  });
}

/** Removes it. Rejects when aborted; what was removed by then stays removed. */
export async function pruneOld(
  deps: PruneDeps,
  pass: RetentionPass,
  signal: AbortSignal,
): Promise<readonly KindAmount[]> {
  for (const { id } of await listCompanies(deps.store.read)) await settleInterrupted(deps, id, signal);
  return await goThrough(deps, pass, {
    signal,
    work: (pruner, due, stopping) => pruner.prune(deps, due, stopping),
  });
}
