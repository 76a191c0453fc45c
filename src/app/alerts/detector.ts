/**
 * What finds incidents of a kind. A detector keeps nothing: it says what is wrong at this moment, from the store and from
 * what the parts of the daemon know, and incidents open and close by that.
 */
import type { AlertKindName, AlertKindSettings } from "../../domain/alerts/alert-kinds.ts";
import type { Finding, Incident } from "../../domain/alerts/incident.ts";
import type { Config } from "../../config/schema.ts";
import type { Intake } from "../../exchange/uploads/intake.ts";
import type { Pipeline } from "../../inbound/pipeline.ts";
import type { Reader } from "../../store/database/database.ts";
import type { ConfigurableSignIn } from "../../sign-in/create-sign-in.ts";
import type { SignInProtocol } from "../../sign-in/sign-in.ts";
import type { PartnerCertificate } from "../daemon/partner-certificates.ts";
import type { RetentionFigures } from "../retention/retention.ts";
import type { ArrivalWatch } from "../watch/arrival-watch.ts";
import type { BackupSchedule } from "../watch/backup-schedule.ts";
import type { CollectionWatch } from "../watch/collection-watch.ts";
import type { RecentGrowth } from "../watch/recent-growth.ts";
import type { RefusedUploadsOf } from "../watch/refused-uploads.ts";

/** The parts of the daemon that detectors ask. */
export interface AlertSources {
  readonly config: () => Config;
  readonly pipeline: Pick<Pipeline, "statistics" | "held" | "waitingCount">;
  readonly intake: Pick<Intake, "current" | "space">;
  readonly collectionWatch: Pick<CollectionWatch, "uncollectedOf">;
  readonly arrivalWatch: Pick<ArrivalWatch, "lateOf">;
  /** When the certificate that an endpoint uses expires, milliseconds UTC. */
  readonly certificates: ReadonlyMap<SignInProtocol, number>;
  /** Those that targets, remotes and alerts name. Rejects when a file does not answer. */
  readonly partnerCertificates: () => Promise<readonly PartnerCertificate[]>;
  readonly backups: Pick<BackupSchedule, "failure" | "running">;
  readonly retention: { readonly figures: Pick<RetentionFigures, "outcome"> };
  readonly signIn: Pick<ConfigurableSignIn, "statistics">;
  readonly refusedSignIns: RecentGrowth;
  readonly refusedUploads: RefusedUploadsOf;
  /** The same, asked at each scan for what was refused since the one before. */
  readonly refusedSinceScan: RefusedUploadsOf;
}

export interface Scan<Name extends AlertKindName = AlertKindName> {
  /** Where incidents are looked for: a company, or the operator, with `operatorId`. */
  readonly subject: { readonly id: number; readonly code: string };
  readonly settings: AlertKindSettings<Name>;
  /** Milliseconds UTC. */
  readonly now: number;
  readonly read: Reader;
  /** The open incidents of the kind and subject, by their causes. */
  readonly open: ReadonlyMap<string, Incident>;
  readonly sources: AlertSources;
}

/** Rejects when it cannot see: then the incidents of the kind and subject stay as they are. */
export type Detector<Name extends AlertKindName = AlertKindName> = (
  scan: Scan<Name>,
) => Promise<readonly Finding[]>;

/** One for each kind, under its name. */
export type Detectors = { readonly [Name in AlertKindName]: Detector<Name> };
