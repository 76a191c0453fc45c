/** What pages ask the store, by name: what is asked and what is found. Both sides are plain data (they cross threads). */
import type { RefusalGroup, StoredStandings } from "./live/standing.ts";
import type { AuditAsked, AuditFound } from "./pages/audit/audit-view.ts";
import type {
  DeliveriesAsked,
  DeliveriesFound,
  DeliveryAsked,
  DeliveryFound,
  ExportAsked,
  ExportsAsked,
  ExportsFound,
  ShownExport,
} from "./pages/deliveries/deliveries-view.ts";
import type { LagsAsked, LagsFound } from "./pages/deliveries/lag-view.ts";
import type { RemotesFound } from "./pages/remotes/remotes-view.ts";
import type { FileAsked, FileContentAsked, FileContentFound, FileFound } from "./pages/file/file-view.ts";
import type { HostAsked, HostFound } from "./pages/hosts/hosts-view.ts";
import type { LoadAsked, LoadFound } from "./pages/load/load-view.ts";
import type { StopAsked, StopFound } from "./pages/stop/stop-view.ts";
import type { FindAsked, FindFound } from "./pages/find/find-view.ts";
import type { FilesAsked, FilesFound } from "./pages/files/files-view.ts";
import type {
  GroupsAsked,
  RatesAsked,
  RatesFound,
  RefusalsAsked,
  RefusalsFound,
} from "./pages/today/today-view.ts";
import type { WaitingAsked, WaitingFound } from "./pages/waiting/waiting-view.ts";
import type { UserDetail, UsersAsked, UsersFound } from "./pages/users/users-view.ts";

export interface Query<Asked, Found> {
  readonly asked: Asked;
  readonly found: Found;
}

export interface ConsoleQueries {
  /** Undefined, here and below, for what the user may not see, and for what there is not. */
  readonly file: Query<FileAsked, FileFound | undefined>;
  readonly fileContent: Query<FileContentAsked, FileContentFound | undefined>;
  readonly stop: Query<StopAsked, StopFound | undefined>;
  readonly load: Query<LoadAsked, LoadFound | undefined>;
  readonly deliveries: Query<DeliveriesAsked, DeliveriesFound>;
  /** How long deliveries have waited for their targets, over time. */
  readonly targetLags: Query<LagsAsked, LagsFound>;
  readonly delivery: Query<DeliveryAsked, DeliveryFound | undefined>;
  readonly exports: Query<ExportsAsked, ExportsFound>;
  readonly export: Query<ExportAsked, ShownExport | undefined>;
  readonly remotes: Query<object, RemotesFound>;
  /** Whatever people have of something. */
  readonly find: Query<FindAsked, FindFound>;
  /** Entries of the ledger by a filter, page by page. */
  readonly files: Query<FilesAsked, FilesFound>;
  /** What waits longest, and why. */
  readonly waiting: Query<WaitingAsked, WaitingFound>;
  readonly hosts: Query<HostAsked, HostFound | undefined>;
  /** How the companies of the scope stand. */
  readonly standings: Query<object, StoredStandings>;
  readonly fileRates: Query<RatesAsked, RatesFound>;
  readonly recentRefusals: Query<RefusalsAsked, RefusalsFound>;
  /** Those of the keys that are many. */
  readonly refusalGroups: Query<GroupsAsked, readonly RefusalGroup[]>;
  /** Users of the companies of the scope, which the asker administers. */
  readonly users: Query<UsersAsked, UsersFound>;
  readonly userDetail: Query<{ readonly userId: number }, UserDetail | undefined>;
  readonly audit: Query<AuditAsked, AuditFound>;
}
