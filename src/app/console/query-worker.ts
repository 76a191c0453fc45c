/** The module of the thread that answers the queries of the console. */
import { queryTable } from "./query-table.ts";
import { serveQueries } from "./serve-queries.ts";

await serveQueries(queryTable);
