/** Targets and remotes that an administrator pauses and resumes, and lists of targets with how they stand. */
import { remoteSettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { systemClock } from "../../lib/clock.ts";
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import {
  type HandPause,
  listHandPauses,
  pauseByHand,
  type PausedThing,
  resumeByHand,
} from "../../store/outbound/hand-pauses.ts";
import { listOldestOpen, listOutboundTargets } from "../../store/outbound/outbound-targets.ts";
import { chooseCompanies, companyFilter } from "./admin.ts";
import { type AdminStore, type StateConfig, withAdminStore, writeEach } from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";
import { findRunningDaemons, type RunningDaemons } from "./running-daemons.ts";

type PauseConfig = Pick<Config, "stateDir" | "companies">;

/** What is to be paused or resumed, as the command names it. */
export interface PauseChoice {
  readonly kind: HandPause["kind"];
  readonly name: string;
  readonly company?: string;
}

export interface PauseOutcome {
  readonly company: string;
  /** The pause that was there: of a pause, the one that holds already; of a resumption, the one that has ended. */
  readonly before: { readonly pausedBy: string; readonly pausedAt: string; readonly reason: string } | null;
}

export interface PauseReport extends RunningDaemons {
  readonly outcomes: readonly PauseOutcome[];
}

interface Chosen extends PausedThing {
  readonly company: string;
}

async function knownThings(
  store: AdminStore,
  config: PauseConfig,
  { kind, company }: PauseChoice,
): Promise<readonly Chosen[]> {
  if (kind === "remote") {
    return (await chooseCompanies(store, company)).flatMap(({ id, code }) =>
      [...remoteSettingsOf(config, code).keys()].map((name) => ({
        ...{ companyId: id, company: code, kind, name },
      })),
    );
  }
  const { companyId } = await companyFilter(store, company);
  return (await listOutboundTargets(store.read))
    .filter((target) => companyId === undefined || target.companyId === companyId)
    .map((target) => ({ companyId: target.companyId, company: target.companyCode, kind, name: target.name }));
}

/** Those of that name. Throws when there is none: a mistyped name would look like a pause. */
async function choose(
  store: AdminStore,
  config: PauseConfig,
  choice: PauseChoice,
): Promise<readonly Chosen[]> {
  const all = await knownThings(store, config, choice);
  const wanted = all.filter(({ name }) => name === choice.name);
  if (wanted.length > 0) return wanted;
  const known = [...new Set(all.map(({ name }) => name))].join(", ");
  throw new WrongUseError(
    `there is no ${choice.kind} ${choice.name}; there is ${known === "" ? "none" : known}`,
  );
}

function outcomeOf(company: string, pause: HandPause | undefined): PauseOutcome {
  if (pause === undefined) return { company, before: null };
  const { pausedBy, pausedAt, reason } = pause;
  return { company, before: { pausedBy, pausedAt: isoTime(pausedAt), reason } };
}

async function change(
  config: PauseConfig,
  choice: PauseChoice,
  work: (tx: Transaction, thing: PausedThing) => Promise<HandPause | undefined>,
): Promise<PauseReport> {
  return await withAdminStore(config, async (store) => {
    const chosen = await choose(store, config, choice);
    const outcomes = await writeEach(store, chosen, async (tx, { company, companyId, kind, name }) =>
      outcomeOf(company, await work(tx, { companyId, kind, name })),
    );
    return { outcomes, ...(await findRunningDaemons(config, store)) };
  });
}

/** Pauses all of that name, of all companies or of one, until somebody resumes them; a running daemon sees it within a second. */
export function pauseAll(
  config: PauseConfig,
  choice: PauseChoice,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<PauseReport> {
  const pausedAt = systemClock.now();
  return change(config, choice, (tx, thing) => pauseByHand(tx, { ...thing, pausedAt, pausedBy: by, reason }));
}

/** Ends pauses by hand; a target that failed before is tried when its own pause is over. */
export function resumeAll(config: PauseConfig, choice: PauseChoice): Promise<PauseReport> {
  return change(config, choice, resumeByHand);
}

/** A target as commands show it; times are ISO, UTC. */
export interface TargetView {
  readonly company: string;
  readonly target: string;
  readonly isConfigured: boolean;
  /** `paused`: by hand; `failing`: it rests after a fault, until `pausedUntil`. */
  readonly condition: "fine" | "failing" | "paused" | "notConfigured";
  readonly pausedBy: string | null;
  readonly pausedAt: string | null;
  readonly reason: string | null;
  readonly failures: number;
  readonly pausedUntil: string | null;
  readonly open: number;
  readonly dead: number;
  readonly oldestOpenAt: string | null;
}

/** The targets of all companies or of one, with what waits for them. */
export async function listTargets(
  config: StateConfig,
  { company }: { readonly company?: string },
): Promise<readonly TargetView[]> {
  return await withAdminStore(config, async (store) => {
    const { companyId } = await companyFilter(store, company);
    const oldest = await listOldestOpen(store.read);
    const pauses = await listHandPauses(store.read);
    const now = systemClock.now();
    const targets = (await listOutboundTargets(store.read)).filter(
      (target) => companyId === undefined || target.companyId === companyId,
    );
    return targets.map(
      ({ id, companyCode, name, isConfigured, failures, pausedUntil, open, dead, ...of }) => {
        const pause = pauses.find(
          (one) => one.kind === "target" && one.companyId === of.companyId && one.name === name,
        );
        const isFailing = failures > 0 && pausedUntil > now;
        const fault = isFailing ? ("failing" as const) : ("fine" as const);
        const known = isConfigured ? fault : ("notConfigured" as const);
        return {
          ...{ company: companyCode, target: name, isConfigured },
          condition: pause === undefined ? known : ("paused" as const),
          pausedBy: pause?.pausedBy ?? null,
          pausedAt: isoOrNull(pause?.pausedAt ?? null),
          reason: pause?.reason ?? null,
          ...{ failures, pausedUntil: isFailing ? isoTime(pausedUntil) : null, open, dead },
          oldestOpenAt: isoOrNull(oldest.get(id) ?? null),
        };
      },
    );
  });
}
