/** Every query of the console with the function that answers it. */
import type { Asked, Found, QueryName, Scope } from "../../endpoints/http/console/console-services.ts";
import { queryFile } from "./queries/file.ts";
import { queryFileContent } from "./queries/file-content.ts";
import { queryHosts } from "./queries/hosts.ts";
import { queryLoad } from "./queries/load.ts";
import { queryStop } from "./queries/stop.ts";
import { queryFind } from "./queries/find.ts";
import { queryFiles } from "./queries/files.ts";
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
  files: queryFiles,
  hosts: queryHosts,
  find: queryFind,
};
