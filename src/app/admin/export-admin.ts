/** Exports by hand, as the command of an administrator makes them. */
import { agesOf, type Companies } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { systemClock } from "../../lib/clock.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { deliverAgain, type ExportPlan, type MadeExport, makeExport } from "../../outbound/export-runs.ts";
import type { Company } from "../../store/accounts/companies.ts";
import { findTargetId } from "../../store/outbound/outbound-targets.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { chooseCompanies } from "./admin.ts";
import { withAdminStore, writeEach } from "./admin-store.ts";
import { defaultExportPlan, enterOutbound, exportPlansOf } from "../daemon/outbound-settings.ts";
import { WrongUseError } from "./wrong-use-error.ts";
import { findRunningDaemons, type RunningDaemons } from "./running-daemons.ts";

/** The options of the command. */
export interface ExportRequest {
  readonly company?: string;
  readonly name?: string;
  /** The number of an export that is to be delivered once more. */
  readonly again?: number;
}

export interface ExportOutcome extends RunningDaemons {
  readonly exports: readonly ExportView[];
  /** What could not be done, and why. */
  readonly refusals: readonly string[];
}

interface ChosenExport {
  readonly company: Company;
  readonly plan: ExportPlan;
}

/** An export as commands show it; times are ISO, UTC. */
export type ExportView = Readonly<ReturnType<typeof toView>>;

function toView({ made, deliveryId, deliveryName, count }: MadeExport, plan: ExportPlan, isAgain: boolean) {
  return {
    company: made.companyCode,
    export: made.name,
    sequenceNbr: made.sequenceNbr,
    /** How many completions it has. */
    stops: count,
    /** As its manifest says them. */
    afterCompletion: made.windowBegin,
    lastCompletion: made.windowEnd,
    form: made.form,
    madeAt: isoTime(made.createdAt),
    target: plan.target,
    /** File, or folder of single files. */
    name: deliveryName,
    delivery: deliveryId,
    isAgain,
  };
}

function listed(exports: readonly ChosenExport[]): string {
  return exports.map(({ company, plan }) => `${plan.name} (${company.code})`).join(", ");
}

/** The selected exports. Without any in the configuration, one company has a default one. */
function chooseExports(
  config: Companies,
  companies: readonly Company[],
  { name }: ExportRequest,
): readonly ChosenExport[] {
  const configured = companies.flatMap((company) =>
    exportPlansOf(config, company).map((plan) => ({ company, plan })),
  );
  const [only] = companies;
  const byDefault = only === undefined || companies.length > 1 ? undefined : defaultExportPlan(config, only);
  const all =
    only !== undefined && byDefault !== undefined ? [{ company: only, plan: byDefault }] : configured;
  const chosen = all.filter(({ plan }) => name === undefined || plan.name === name);
  if (chosen.length > 0) return chosen;
  if (all.length > 0) throw new WrongUseError(`there is no export ${name ?? ""}; there is ${listed(all)}`);
  throw new WrongUseError(
    companies.length > 1
      ? "no company has exports in the configuration: name one with --company, or add them (companies.<CODE>.outbound.exports)"
      : "there is no export: add one to the configuration (companies.<CODE>.outbound.exports)",
  );
}

/** The daemon enters the targets when it starts; before its first start nobody has. */
async function ensureTarget(tx: Transaction, config: Companies, { company, plan }: ChosenExport) {
  const known = await findTargetId(tx, { companyId: company.id, name: plan.target });
  if (known === undefined) await enterOutbound(tx, config, company);
}

type Made = { readonly view: ExportView } | { readonly refusal: string };

async function exportAgain(
  tx: Transaction,
  {
    config,
    sequenceNbr,
  }: { readonly config: Pick<Config, "companies" | "retention">; readonly sequenceNbr: number },
  { company, plan }: ChosenExport,
) {
  const outcome = await deliverAgain(tx, plan, { sequenceNbr, now: systemClock.now() });
  const what = `export ${sequenceNbr} of ${plan.name} (${company.code})`;
  switch (outcome.kind) {
    case "queued":
      return { view: toView(outcome.again, plan, true) };
    case "unknown": {
      const { newest } = outcome;
      return {
        refusal: `there is no ${what}: ${newest === undefined ? "it has not run yet" : `the newest is ${newest}`}`,
      };
    }
    case "forgotten": {
      const { outbound: age } = agesOf(config, company.code);
      const madeAt = isoTime(outcome.madeAt);
      return {
        refusal: `${what} was made at ${madeAt}: what it was made of is kept no longer (retention.outbound is ${age})`,
      };
    }
  }
}

async function exportNow(tx: Transaction, chosen: ChosenExport): Promise<Made> {
  const made = await makeExport(tx, chosen.plan, { now: systemClock.now(), dueAt: null });
  return { view: toView(made, chosen.plan, false) };
}

/**
 * Makes the exports that are asked for now, or delivers one of them again. All or nothing. Throws `WrongUseError` when
 * there is no such export, or when it is not clear which one is to be delivered again.
 */
export async function runExports(
  config: Pick<Config, "stateDir" | "companies" | "retention">,
  request: ExportRequest,
): Promise<ExportOutcome> {
  return await withAdminStore(config, async (store) => {
    const companies = await chooseCompanies(store, request.company);
    const chosen = chooseExports(config, companies, request);
    const { again: sequenceNbr } = request;
    if (sequenceNbr !== undefined && chosen.length > 1) {
      throw new WrongUseError(
        `--again needs one export: name it with --company and --name; there is ${listed(chosen)}`,
      );
    }
    const outcomes = await writeEach(store, chosen, async (tx, one) => {
      await ensureTarget(tx, config, one);
      if (sequenceNbr === undefined) return await exportNow(tx, one);
      return await exportAgain(tx, { config, sequenceNbr }, one);
    });
    return {
      exports: outcomes.flatMap((one) => ("view" in one ? [one.view] : [])),
      refusals: outcomes.flatMap((one) => ("refusal" in one ? [one.refusal] : [])),
      ...(await findRunningDaemons(config, store)),
    };
  });
}
