/** One pass of retention: everything that is too old, of all kinds and companies. */
import { setImmediate } from "node:timers/promises";
import { agesOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { operatorCode, operatorId } from "../../domain/alerts/audience.ts";
import { oldBefore, type RetentionKind } from "../../domain/retention/retention.ts";
import { settleInterrupted } from "../../inbound/pruning/settle-interrupted.ts";
import type { Company } from "../../store/accounts/companies.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import type { Misdated } from "../../store/database/prune-clock.ts";
import { sparing } from "./clock-guard.ts";
import { type Amount, type DueCompany, type Progress, type PruneDeps, type Pruner, Tally } from "./pruner.ts";
import { pruners } from "./pruners.ts";

export type RetentionConfig = Pick<Config, "companies" | "retention">;

/** What went, or would go, of one kind and company. */
export interface KindAmount extends Amount {
  readonly kind: RetentionKind;
  readonly company: string;
}

/** A part of a pass: a kind, a company, or the kind of a company. */
export interface PassPart {
  readonly kind?: RetentionKind;
  readonly company?: string;
}

export interface RetentionPass {
  readonly config: RetentionConfig;
  /** Of one company alone. */
  readonly company?: string | undefined;
  /** What a clock that was behind has written, which only looks old. */
  readonly misdated?: Misdated | undefined;
  /** Hears after each kind what went of it, or would go, also when it was cut off. */
  readonly told?: (amounts: readonly KindAmount[]) => void;
  /** Hears of each part that failed; the others go on. Without it, the first failure ends the pass. */
  readonly failed?: (part: PassPart, error: unknown) => void;
  /** Of a pass beside other work, of which no kind may hold that up. */
  readonly beside?: {
    /** Aborts when the time of a kind that begins now is up. */
    readonly timeUp: () => AbortSignal;
    /** Hears of each kind whose time was up. */
    readonly unfinished: (kind: RetentionKind) => void;
    /** By the kind, the company at which its time was up in the pass before; the next one begins behind that. */
    readonly cutOffAt: Map<RetentionKind, number>;
  };
}

/** Acts in the console that concern no company, or all, are kept like those of a company without settings of its own. */
const operator = { id: operatorId, code: operatorCode };

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

/** In turn: first those behind the one at which the time was up, which has had its share, last. */
function inTurn(due: readonly DueCompany[], cutOffAt: number | undefined): readonly DueCompany[] {
  const next = due.findIndex(({ id }) => id === cutOffAt) + 1;
  return [...due.slice(next), ...due.slice(0, next)];
}

type Work = (pruner: Pruner, due: readonly DueCompany[], progress: Progress) => Promise<void>;

/** Has the kind done, as far as it comes. Rejects when the pass is aborted. */
async function workOn(
  {
    pruner,
    due,
    pass,
    tally,
  }: { pruner: Pruner; due: readonly DueCompany[]; pass: RetentionPass; tally: Tally },
  { work, signal }: { readonly work: Work; readonly signal: AbortSignal },
): Promise<void> {
  const { kind } = pruner;
  const { beside, failed } = pass;
  const timeUp = beside?.timeUp();
  let at: number | undefined;
  const progress: Progress = {
    tally,
    signal: timeUp === undefined ? signal : AbortSignal.any([signal, timeUp]),
    failed: failed && (({ code }, error) => failed({ kind, company: code }, error)),
    begun: ({ id }) => {
      at = id;
    },
  };
  const turn = beside?.cutOffAt.get(kind);
  beside?.cutOffAt.delete(kind);
  try {
    await work(pruner, inTurn(due, turn), progress);
  } catch (error) {
    if (signal.aborted) throw error;
    if (beside !== undefined && error === timeUp?.reason) {
      if (at !== undefined) beside.cutOffAt.set(kind, at);
      beside.unfinished(kind);
    } else if (failed === undefined) throw error;
    else failed({ kind }, error);
  }
}

function amountsOf(
  kind: RetentionKind,
  due: readonly DueCompany[],
  { amounts }: Tally,
): readonly KindAmount[] {
  return due.flatMap(({ id, code }) => {
    const amount = amounts.get(id);
    return amount === undefined ? [] : [{ kind, company: code, ...amount }];
  });
}

async function goThrough(
  deps: PruneDeps,
  pass: RetentionPass,
  how: { readonly work: Work; readonly signal: AbortSignal },
): Promise<readonly KindAmount[]> {
  const { isOurs = () => true } = deps;
  const all = (await listCompanies(deps.store.read)).filter(({ id }) => isOurs(id));
  const companies = pass.company === undefined ? all : all.filter(({ code }) => code === pass.company);
  const amounts: KindAmount[] = [];
  for (const pruner of pruners) {
    const { kind } = pruner;
    const isOfOperator = kind === "audit" && pass.company === undefined && isOurs(operator.id);
    const owners = isOfOperator ? [...companies, operator] : companies;
    const due = dueOf(owners, { ...pass, kind, now: deps.now });
    if (due.length === 0) continue;
    const tally = new Tally();
    try {
      await workOn({ pruner, due, pass, tally }, how);
    } finally {
      const found = amountsOf(kind, due, tally);
      amounts.push(...found);
      pass.told?.(found);
    }
    await setImmediate();
  }
  return amounts;
}

/** Settles what a death has interrupted, of each company, whatever comes of the others. */
async function settleAll(deps: PruneDeps, { failed }: RetentionPass, signal: AbortSignal): Promise<void> {
  const { isOurs = () => true } = deps;
  for (const { id, code: company } of await listCompanies(deps.store.read)) {
    if (!isOurs(id)) continue;
    try {
      await settleInterrupted(deps, id, signal);
    } catch (error) {
      if (signal.aborted || failed === undefined) throw error;
      failed({ company }, error);
    }
  }
}

/** Counts what a pass would remove. Rejects when aborted. */
export function countOld(
  deps: PruneDeps,
  pass: RetentionPass,
  signal: AbortSignal,
): Promise<readonly KindAmount[]> {
  return goThrough(deps, pass, {
    signal,
    work: (pruner, due, progress) => pruner.wouldGo(deps, due, progress),
  });
}

/** Removes it. Rejects when aborted; what was removed by then stays removed. */
export async function pruneOld(
  deps: PruneDeps,
  pass: RetentionPass,
  signal: AbortSignal,
): Promise<readonly KindAmount[]> {
  await settleAll(deps, pass, signal);
  return await goThrough(deps, pass, {
    signal,
    work: (pruner, due, progress) => pruner.prune(deps, due, progress),
  });
}
