/** How companies stand at a moment: what page 1 shows, and what live rows are made from. Plain data. */
import type { AlertKindName } from "../../../../domain/alerts/alert-kinds.ts";
import type { Move } from "../../../../domain/outbound/whose-move.ts";
import type { ErrorCode } from "../../../../lib/errors.ts";
import { isoTime } from "../../../../lib/iso-time.ts";
import type { DecidedState } from "../../../../domain/files/file-state.ts";

/** Something that is wrong, with what to do about it; of the incidents of the alerts. */
export interface OpenIncident {
  readonly id: number;
  /** In the catalogue of alerts. */
  readonly kind: AlertKindName;
  /** The kind of trouble, and of what. */
  readonly title: string;
  readonly summary: string;
  /** What an operator can do about it. */
  readonly remedy: string;
  /** What the people of the company can do; undefined for what belongs to all companies. */
  readonly companyRemedy: string | undefined;
  /** Milliseconds UTC. */
  readonly openedAt: number;
}

/** Files that came on one day (UTC) and were decided. */
export interface DayCount {
  readonly applied: number;
  readonly refused: number;
}

/** A target that refuses what waits for it, or a remote that cannot be polled: so many times in a row. */
export interface FailingPlace {
  readonly kind: "target" | "remote";
  readonly name: string;
  readonly failures: number;
  /** After its last fault; undefined when that is not known. */
  readonly move: Move | undefined;
}

/** What of a company's standing is in the store. */
export interface StoredStanding {
  readonly companyId: number;
  readonly companyCode: string;
  readonly today: DayCount;
  /** The whole day a week before. */
  readonly weekBefore: DayCount;
  /** Of that day those until the same time of day; undefined where its hours are not known. */
  readonly weekBeforeByNow: DayCount | undefined;
  /** Which days of UTC these are, `YYYY-MM-DD`. */
  readonly days: { readonly today: string; readonly weekBefore: string };
  readonly incidents: readonly OpenIncident[];
  readonly deadLetters: number;
  /** One that has failed once or twice may be well at the next attempt, and is left out. */
  readonly failing: readonly FailingPlace[];
  /** Whether incidents of the company are looked for: nothing is while nobody is to be told. */
  readonly isWatched: boolean;
}

export interface StoredStandings {
  readonly companies: readonly StoredStanding[];
  /** Of the whole installation. */
  readonly incidents: readonly OpenIncident[];
}

/** An expectation whose files have not come in time. */
export interface LateExpectation {
  readonly name: string;
  /** From when on files count for it, and when they should have been there, milliseconds UTC. */
  readonly beginsAt: number;
  readonly dueAt: number;
  /** How many files have come, of how many. */
  readonly arrived: number;
  readonly atLeast: number;
  /** Which files count, as far as it is said: their names, their way, who sends them. */
  readonly files: { readonly name?: string; readonly channel?: string; readonly user?: string };
}

export interface CompanyStanding extends StoredStanding {
  readonly waiting: number;
  /** For how long the one waits that has waited longest, milliseconds; 0 when none waits. */
  readonly oldestAgeMs: number;
  /** Why nothing at all is decided; undefined as a rule. */
  readonly halt: string | undefined;
  readonly late: readonly LateExpectation[];
  /** Files that lie in `outbound/` longer than they may; undefined where that is not watched. */
  readonly uncollected: number | undefined;
}

/** A disk that fills, as it was measured last. */
export interface DiskFilling {
  readonly folder: string;
  /** When it was measured, milliseconds UTC. */
  readonly at: number;
  /** Left out when it lasts for ten years. */
  readonly fullInDays?: number;
  /** So soon that something is to be done about it. */
  readonly isSoon: boolean;
}

/** What belongs to all companies: for operators. */
export interface SiteStanding {
  readonly incidents: readonly OpenIncident[];
  /** Undefined when the disk does not say. */
  readonly disk: { readonly freeBytes: number; readonly minFreeBytes: number } | undefined;
  /** The disks that a forecast could be made of; undefined before the first measurement. */
  readonly filling: readonly DiskFilling[] | undefined;
  /** Certificates that this program shows, by what listens; those without TLS have none. */
  readonly certificates: readonly { readonly endpoint: string; readonly expiresAt: number }[];
  /** What keeps it from being ready, in words. */
  readonly troubles: readonly string[];
}

export interface Standing {
  /** Milliseconds UTC. */
  readonly at: number;
  /** By the id of the company. */
  readonly companies: ReadonlyMap<number, CompanyStanding>;
  readonly site: SiteStanding;
}

/** A file that was refused or superseded. */
export interface Refusal {
  readonly companyId: number;
  readonly companyCode: string;
  /** The sealed number of its ledger entry: what the file is called in addresses and receipts. */
  readonly reference: string;
  readonly name: string;
  readonly state: DecidedState;
  readonly code: ErrorCode;
  readonly reasonCode: number;
  readonly message: string;
  /** When it was decided, milliseconds UTC. */
  readonly at: number;
}

/** Refusals that belong together: of a company, for one reason, on one day. */
export interface RefusalKey {
  readonly companyId: number;
  readonly code: ErrorCode;
  /** Of UTC, by the time of arrival, `YYYY-MM-DD`. */
  readonly day: string;
}

/** So many refusals of one key that they are one line. */
export interface RefusalGroup extends RefusalKey {
  readonly companyCode: string;
  readonly reasonCode: number;
  readonly count: number;
  /** There are more than are counted. */
  readonly isMore: boolean;
  /** When the first and the last of them came, milliseconds UTC. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Of the last one. */
  readonly message: string;
}

/** The key of a refusal; its day is that of the decision, which comes within moments of the arrival. */
export function refusalKeyOf({ companyId, code, at }: Refusal): RefusalKey {
  return { companyId, code, day: isoTime(at).slice(0, 10) };
}

/** The key as a text, equal for equal keys. */
export function refusalKeyText({ companyId, code, day }: RefusalKey): string {
  return `${companyId}-${code}-${day}`;
}

/** Where live pages get what they show. */
export interface LiveSource {
  /** How all companies stand, at most a second old. Rejects when the store cannot be asked. */
  standing(): Promise<Standing>;
  /** Calls `listener` with each refusal of any company. Returns a function that ends that. */
  onRefusal(listener: (refusal: Refusal) => void): () => void;
  /** Those of the keys of which there are so many that they are one line. Rejects when the store cannot be asked. */
  refusalGroups(keys: readonly RefusalKey[]): Promise<readonly RefusalGroup[]>;
}
