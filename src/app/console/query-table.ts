/** Every query of the console with the function that answers it. */
import type { Asked, Found, QueryName, Scope } from "../../endpoints/http/console/console-services.ts";
import { queryAudit } from "./queries/audit.ts";
import { queryDeliveries, queryDelivery } from "./queries/deliveries.ts";
import { queryExport, queryExports } from "./queries/exports.ts";
import { queryRemotes } from "./queries/remotes.ts";
import { queryFile } from "./queries/file.ts";
import { queryFileContent } from "./queries/file-content.ts";
import { queryHosts } from "./queries/hosts.ts";
import { queryLoad } from "./queries/load.ts";
import { queryFileRates } from "./queries/file-rates.ts";
import { queryRecentRefusals, queryRefusalGroups } from "./queries/recent-refusals.ts";
import { queryStandings } from "./queries/standings.ts";
import { queryStop } from "./queries/stop.ts";
import { queryFind } from "./queries/find.ts";
import { queryFiles } from "./queries/files.ts";
import { queryTargetLags } from "./queries/target-lags.ts";
import { queryUserDetail, queryUsers } from "./queries/users.ts";
import { queryWaiting } from "./queries/waiting.ts";
import type { QueryContext } from "./query-context.ts";

/** One function for each query; the compiler asks for each. */
type QueryTable = {
  readonly [Name in QueryName]: (
    context: QueryContext,
    scope: Scope,
    asked: Asked<Name>,
  ) => Promise<Found<Name>>;
};

export const queryTable: QueryTable = {
  file: queryFile,
  fileContent: queryFileContent,
  stop: queryStop,
  load: queryLoad,
  deliveries: queryDeliveries,
  targetLags: queryTargetLags,
  delivery: queryDelivery,
  exports: queryExports,
  export: queryExport,
  remotes: queryRemotes,
  files: queryFiles,
  hosts: queryHosts,
  waiting: queryWaiting,
  find: queryFind,
  standings: queryStandings,
  fileRates: queryFileRates,
  recentRefusals: queryRecentRefusals,
  refusalGroups: queryRefusalGroups,
  users: queryUsers,
  userDetail: queryUserDetail,
  audit: queryAudit,
};
