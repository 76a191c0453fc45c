/**
 * The numbered migrations, each with its SQL, and the fingerprint of the schema that it leaves.
 *
 * To add one: a file `NNNN-what-it-does.ts` beside this one, with the next number and one constant `sql`, and an entry at
 * the end of `migrations`. It imports nothing: what it does must be the same in years, whatever the code has become.
 * `migrations.test.ts` says the fingerprint and the hash of the text to note. Rows are changed in SQL (`json_set` and the
 * like for JSON). SQLite cannot change a column: make `new_NAME` as the table is to be, copy, drop, rename, and make the
 * indexes again; `early/2-gateway.ts` shows it, with the counter of ids. References are checked at the end.
 *
 * In `postgres` the entry has the text for PostgreSQL, which may be the same one, the fingerprint that it leaves there
 * (`test/integration/postgres-store.test.ts` says it), and which programs go on beside it: CONTRIBUTING.md, "Migrations of a
 * running cluster".
 *
 * One that has been on the main branch is never changed, not even in its comments inside of the SQL: add the next.
 */
import { sql as tablesOf010 } from "./0001-tables-of-0-1-0.ts";
import { sql as orderOfStops } from "./0002-order-of-stops-and-addresses.ts";
import { sql as askedForAgain } from "./0003-asked-for-again.ts";
import { sql as addressesOfUsers } from "./0004-addresses-of-users.ts";
import { sql as filesNotApplied } from "./0005-files-not-applied.ts";
import { sql as givenUpDeliveries } from "./0006-given-up-deliveries.ts";
import { sql as numbersOfExportWindows } from "./0007-numbers-of-export-windows.ts";
import { sql as incidents } from "./0008-incidents.ts";
import { sql as retention } from "./0009-retention.ts";
import { sql as filesByArrival } from "./0010-files-by-arrival.ts";
import { sql as documentsByAge } from "./0011-documents-by-age.ts";
import { sql as importsThatWait } from "./0012-imports-that-wait.ts";
import { sql as answeredRequests } from "./0013-answered-requests.ts";
import { sql as addressesOfPickups } from "./0014-addresses-of-pickups.ts";
import { sql as oldEvents } from "./0015-old-events.ts";
import { sql as toldReceivers } from "./0016-told-receivers.ts";
import { sql as consoleTables } from "./0017-console.ts";
import { sql as countsAndIndexes } from "./0018-counts-and-indexes.ts";
import { sql as fileRates } from "./0019-file-rates.ts";
import { sql as pausesByHand } from "./0020-pauses-by-hand.ts";
import { sql as momentsOfFiles } from "./0021-moments-of-files.ts";
import { sql as importsOfLoads } from "./0022-imports-of-loads.ts";
import { postgres as nodesAndLanesOfPostgres, sql as nodesAndLanes } from "./0023-nodes-and-lanes.ts";
import { postgres as arrivalsOfPostgres, sql as arrivals } from "./0024-arrivals.ts";
import { postgres as orphanedLeasesOfPostgres, sql as orphanedLeases } from "./0025-orphaned-leases.ts";

export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** Of the schema after it. */
  readonly fingerprint: string;
  /**
   * The same for PostgreSQL, from 22 on: what the tables of schema 21 are there, `postgres/schema-21-….ts` has as a whole.
   */
  readonly postgres?: PostgresMigration;
}

export interface PostgresMigration {
  readonly sql: string;
  readonly fingerprint: string;
  /**
   * Programs of which schemas may go on beside it, on other nodes. `as before`: it only widens (tables, indexes, columns with a
   * default), and whoever could use the database before still can. Else the number of the oldest schema whose programs use
   * nothing of what it takes away or changes: older ones are drained before it runs.
   */
  readonly oldest: "as before" | number;
}

/** The number of a migration is its place, from 1. */
export const migrations: readonly Migration[] = [
  { name: "tables of 0.1.0", sql: tablesOf010, fingerprint: "23c87945d8810491a4a517488feb000f" },
  {
    name: "order of stops and addresses",
    sql: orderOfStops,
    fingerprint: "076ed0128af8c66441a91e988e5956f6",
  },
  { name: "what was asked for again", sql: askedForAgain, fingerprint: "b1e55fd81326b1974e66890ae97937aa" },
  { name: "addresses of users", sql: addressesOfUsers, fingerprint: "6acb79029febff60c86a46a13bb15c99" },
  {
    name: "index over files that were not applied",
    sql: filesNotApplied,
    fingerprint: "d6bc070a2e89387f5be3c0220064759d",
  },
  {
    name: "deliveries that were given up",
    sql: givenUpDeliveries,
    fingerprint: "a17023c539d08e04b273e3b0937c4c1d",
  },
  {
    name: "numbers of export windows",
    sql: numbersOfExportWindows,
    fingerprint: "715c500271ccb91e3dad50abf4b84a56",
  },
  { name: "incidents", sql: incidents, fingerprint: "e1dec83a1340ef3aba36a735d521843b" },
  { name: "retention", sql: retention, fingerprint: "7994367eedeba466dc714f4e3e6e4da0" },
  {
    name: "index over the arrival of files",
    sql: filesByArrival,
    fingerprint: "ed80e912499f159731d9485412b8a48e",
  },
  {
    name: "indexes by which old documents are found",
    sql: documentsByAge,
    fingerprint: "5c71596521f8952a6de092d1cfd9172a",
  },
  {
    name: "index over imports that wait",
    sql: importsThatWait,
    fingerprint: "38021508c701155aa2fb9fcbd44e594a",
  },
  {
    name: "requests for polls that were answered",
    sql: answeredRequests,
    fingerprint: "42566348d2201140a179decee3c79f88",
  },
  { name: "addresses of pick-ups", sql: addressesOfPickups, fingerprint: "cb1230676b0edd1f90a30c55da889471" },
  {
    name: "indexes by which old events are found",
    sql: oldEvents,
    fingerprint: "02cc4c5fcd7c8759154629f6e832b168",
  },
  { name: "receivers that were told", sql: toldReceivers, fingerprint: "64a9ba8905e2fcd01281f19cbf3415ac" },
  {
    name: "sessions of the console, and the audit",
    sql: consoleTables,
    fingerprint: "07cf7471f27590f1ea288f263f0c17a0",
  },
  {
    name: "counts of days, reasons of files, and indexes by which people find",
    sql: countsAndIndexes,
    fingerprint: "49df60f034dd9945c5cb1fdc03f2ba5c",
  },
  { name: "files of each minute and hour", sql: fileRates, fingerprint: "bf37b4cbc1dae4187a992946d6291fdf" },
  {
    name: "pauses by hand, and the audit by subject",
    sql: pausesByHand,
    fingerprint: "68881612e74bd3b9f53f606ea9da490d",
  },
  { name: "moments of files", sql: momentsOfFiles, fingerprint: "ae4e81dd2aad6dd89a280d392e055a69" },
  {
    name: "index over the imports of a load",
    sql: importsOfLoads,
    fingerprint: "7599a144dcc7c746e67fcb13c081e1c7",
    postgres: { sql: importsOfLoads, fingerprint: "1f3030bcf111de46f47bdcf956b8ee82", oldest: 22 },
  },
  {
    name: "nodes and lanes",
    sql: nodesAndLanes,
    fingerprint: "37becbf0a3954fa06c6ba86184395e68",
    postgres: { sql: nodesAndLanesOfPostgres, fingerprint: "e16e024a49840ff557ffb69b78ad472b", oldest: 23 },
  },
  {
    name: "arrivals",
    sql: arrivals,
    fingerprint: "8e98f7daac285156d722e38d52122923",
    postgres: { sql: arrivalsOfPostgres, fingerprint: "789b6bb918d752da6306f92e66699507", oldest: 24 },
  },
  {
    name: "orphaned leases",
    sql: orphanedLeases,
    fingerprint: "176386fb3386bb70c46bee9bbdf67b30",
    postgres: {
      sql: orphanedLeasesOfPostgres,
      fingerprint: "30fbd8858d6a8a489af71c8947138800",
      oldest: "as before",
    },
  },
];
