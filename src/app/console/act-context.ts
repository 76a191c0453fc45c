import type { Config } from "../../config/schema.ts";
import type { DocumentPool } from "../../documents/pool/document-pool.ts";
import type { FolderEndpoint } from "../../endpoints/folders/folder-endpoint.ts";
import type { Intake } from "../../exchange/uploads/intake.ts";
import type { Clock } from "../../lib/clock.ts";
import type { RecentRequests } from "../../endpoints/http/server/recent-requests.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { ConfigurableSignIn } from "../../sign-in/create-sign-in.ts";
import type { ImportIntegrations } from "../../operations/imports/service-import.ts";
import type { SignInBans } from "../../sign-in/failed-sign-ins.ts";
import type { UserRecord } from "../../store/accounts/users.ts";
import type { Store } from "../../store/database/database.ts";
import type { CollectionWatch } from "../watch/collection-watch.ts";
import type { HealthJobs } from "./health/console-health.ts";

/** What acts of the console are done with: parts of the running daemon. */
export interface ActContext {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  /** Absolute. */
  readonly stateDir: string;
  /** As it is in force. */
  readonly config: () => Config;
  /** References of ledger entries, as receipts show them. */
  readonly ledgerNumbers: SealedNumbers;
  readonly documents: Pick<DocumentPool, "prepareFile">;
  readonly bans: SignInBans;
  readonly signIns: Pick<ConfigurableSignIn, "refusedOf" | "bannedForMs">;
  readonly jobs: Pick<HealthJobs, "verification">;
  readonly integrations: ImportIntegrations;
  readonly requests: Pick<RecentRequests, "find">;
  readonly folders: Pick<FolderEndpoint, "standings">;
  readonly intake: Pick<Intake, "whyNoRoom">;
  readonly collectionWatch: Pick<CollectionWatch, "uncollectedOf">;
  /** Whether the configuration names the user in `console.operators`. */
  readonly isOperator: (user: Pick<UserRecord, "userName" | "memberships">) => boolean;
}
