/** What people open in the console: each page with each filter, as addresses of which one is drawn each turn. */
import { join } from "node:path";
import { dayMs } from "../../src/lib/durations.ts";
import { openForReading } from "../../src/store/database/sqlite-dialect.ts";
import type { ConsoleClient } from "./console-client.ts";
import { rareUser } from "./console-ledger-rows.ts";
import { largeLoad } from "./console-load-rows.ts";
import { filesPerDay } from "./console-rows.ts";
import { companyCode } from "./sites.ts";

/** The address of a turn. */
export type Addresses = (turn: number) => string;
export type Pages = Readonly<Record<string, Addresses>>;

/** Numbers that people have in their hands. */
interface SampleFile {
  readonly name: string;
  readonly sha256: string;
  readonly stopNbr: string;
}
interface SampleDelivery {
  readonly guid: string;
  readonly name: string;
  readonly stopNbr: string;
}
interface SampleStop {
  readonly company: string;
  readonly stopNbr: string;
  readonly loadNbr: string;
}

export interface Samples {
  readonly rows: number;
  /** Of the newest file. */
  readonly lastFileId: number;
  readonly files: readonly SampleFile[];
  readonly deliveries: readonly SampleDelivery[];
  readonly dead: readonly SampleDelivery[];
  readonly exports: readonly SampleDelivery[];
  readonly stops: readonly SampleStop[];
  readonly documents: readonly { readonly guid: string }[];
  readonly users: readonly { readonly id: number }[];
}

const samplesOfKind = 30;

/** Rows from all over the store. */
export function readSamples(stateDir: string, rows: number): Samples {
  const database = openForReading(join(stateDir, "dropgate.db"));
  try {
    const spread = <Row>(table: string, sql: string): readonly Row[] => {
      const range = database.prepare(`select min(id) as first, max(id) as last from ${table}`).get();
      const { first, last } = range as { readonly first: number; readonly last: number };
      const next = database.prepare(`${sql} and t.id >= ? order by t.id limit 1`);
      const at = (nth: number) => first + Math.floor(((nth * 7919) % 1_000) * ((last - first) / 1_000));
      const found = Array.from({ length: samplesOfKind }, (_, nth) => next.get(at(nth)));
      return found.filter((row) => row !== undefined) as Row[];
    };
    const deliveries = (condition: string) =>
      spread<SampleDelivery>(
        "deliveries",
        `select t.guid, t.name, t.order_key as stopNbr from deliveries as t where ${condition}`,
      );
    return {
      rows,
      lastFileId: Number(database.prepare("select max(id) from files").pluck().get()),
      files: spread(
        "files",
        "select t.name, t.sha256, t.stop_nbr as stopNbr from files as t where t.sha256 is not null",
      ),
      deliveries: deliveries("t.state = 'delivered'"),
      dead: deliveries("t.state = 'dead'"),
      exports: deliveries("t.kind = 'export'"),
      stops: spread(
        "stops",
        `select c.code as company, t.stop_nbr as stopNbr, l.load_nbr as loadNbr from stops as t join loads as l on l.id = t.load_id
           join companies as c on c.id = t.company_id where true`,
      ),
      documents: database.prepare(`select guid from documents limit ${samplesOfKind}`).all() as {
        guid: string;
      }[],
      users: spread("users", "select t.id from users as t where true"),
    };
  } finally {
    database.close();
  }
}

/** Addresses that pages themselves have. */
export interface Linked {
  readonly file: string;
  readonly nextFiles: string;
  readonly previousFiles: string;
  readonly nextDeliveries: string;
  readonly nextAudit: string;
}

function linkIn(body: string, what: string, form: RegExp): string {
  const address = form.exec(body)?.[1]?.replaceAll("&amp;", "&");
  if (address === undefined) throw new Error(`no page has a link to ${what}`);
  return address;
}

const nextLink = /rel="next" href="([^"]+)"/;

/** What the first pages lead to. */
export async function lookAround(client: ConsoleClient): Promise<Linked> {
  const files = (await client.get("/console/files")).body;
  const nextFiles = linkIn(files, "more files", nextLink);
  const furtherFiles = (await client.get(nextFiles)).body;
  return {
    file: linkIn(files, "a file", /href="(\/console\/files\/[0-9a-f-]{36})"/),
    nextFiles,
    previousFiles: linkIn(furtherFiles, "newer files", /rel="prev" href="([^"]+)"/),
    nextDeliveries: linkIn((await client.get("/console/deliveries")).body, "more deliveries", nextLink),
    nextAudit: linkIn((await client.get("/console/audit")).body, "more of the audit", nextLink),
  };
}

function drawn<Row>(rows: readonly Row[], address: (row: Row) => string): Addresses {
  return (turn) => {
    const row = rows[turn % rows.length];
    if (row === undefined) throw new Error("there is nothing to draw from");
    return address(row);
  };
}

const always =
  (address: string): Addresses =>
  () =>
    address;

const found = (text: string) => `/console/find?q=${encodeURIComponent(text)}`;

function finding({ files, deliveries, documents, stops }: Samples, { file }: Linked): Pages {
  return {
    "find a name": drawn(files, ({ name }) => found(name)),
    "find the beginning of a name": drawn(files, ({ name }) => found(name.slice(0, 5))),
    "find a receipt": drawn(files, ({ name }) => found(name.replace(".xml", ".receipt.xml"))),
    "find the stop of a file": drawn(files, ({ stopNbr }) => found(stopNbr)),
    "find a stop": drawn(stops, ({ stopNbr }) => found(stopNbr)),
    "find a load": drawn(stops, ({ loadNbr }) => found(loadNbr)),
    "find a shipment": drawn(stops, ({ stopNbr }) => found(`S${Number(stopNbr.slice(1))}`)),
    "find a delivery": drawn(deliveries, ({ guid }) => found(guid)),
    "find a document": drawn(documents, ({ guid }) => found(guid)),
    "find a ledger reference": always(found(file.slice(file.lastIndexOf("/") + 1))),
    "find a SHA-256": drawn(files, ({ sha256 }) => found(sha256)),
    "find the beginning of a SHA-256": drawn(files, ({ sha256 }) => found(sha256.slice(0, 10))),
    "find a SHA-256 of nothing": (turn) => found(String(turn).padStart(64, "0")),
    "find a user": always(found("person017")),
    "find a company": always(found(companyCode)),
    "find the beginning of users": always(found("person")),
    "find a day": always(found("2026-01-05")),
    "find what is not there": (turn) => found(`nothing${turn}`),
  };
}

/** Filters that few or no entries match are the slow ones. */
function listingFiles({ rows, files }: Samples, linked: Linked): Pages {
  const dayOf = (share: number) =>
    new Date(Date.now() - (rows / filesPerDay) * dayMs * share).toISOString().slice(0, 10);
  const filters: Readonly<Record<string, string>> = {
    "the newest": "",
    "of one company": `company=${companyCode}`,
    waiting: "state=waiting",
    applied: "state=applied",
    refused: "state=refused",
    superseded: "state=superseded",
    duplicates: "state=duplicate",
    "bytes removed": "state=pruned",
    "by a reason": "reason=951",
    "by a rare reason": "reason=952",
    "by a reason that never was": "reason=957",
    "by a way": "channel=folder",
    "by a way that never was": "channel=remote:nowhere",
    "of a user": "user=host3",
    "of a user who sent one": `user=${rareUser}`,
    "of nobody": "user=nobody",
    "refused, of nobody": "state=refused&user=nobody",
    "of an old day": `day=${dayOf(0.9)}`,
    "of a day, of a user": `day=${dayOf(0.5)}&user=host3`,
    "of a name in the middle": "name=*000777*",
    "of a name that never was": "name=*nowhere*",
    "of the beginning of a name": "name=K0001*",
    "of digits that never were": "name=47*",
  };
  return {
    ...Object.fromEntries(
      Object.entries(filters).map(([name, query]) => [`files, ${name}`, always(`/console/files?${query}`)]),
    ),
    "files of a name": drawn(files, ({ name }) => `/console/files?name=${name}`),
    "files, the next page": always(linked.nextFiles),
    "files, the page before": always(linked.previousFiles),
    "files as CSV": always("/console/files.csv"),
    "files as CSV, refused": always("/console/files.csv?state=refused"),
    "files as CSV, of nobody, one company": always(`/console/files.csv?user=nobody&day=${dayOf(0.5)}`),
  };
}

function showingOne({ stops, deliveries, dead, exports }: Samples, { file }: Linked): Pages {
  const delivery = ({ guid }: SampleDelivery) => `/console/deliveries/${guid}`;
  return {
    "a file with its content": always(file),
    "a stop": drawn(stops, ({ company, stopNbr }) => `/console/stops/${company}/${stopNbr}`),
    "a load": drawn(stops, ({ company, loadNbr }) => `/console/loads/${company}/${loadNbr}`),
    "a load of 2,000 stops": always(`/console/loads/${companyCode}/${largeLoad.loadNbr}`),
    "a delivery": drawn(deliveries, delivery),
    "a delivery that failed": drawn(dead, delivery),
    "a delivery of an export": drawn(exports, delivery),
  };
}

function listingDeliveries({ deliveries }: Samples, linked: Linked): Pages {
  const filters: Readonly<Record<string, string>> = {
    "the newest": "",
    "of one company": `company=${companyCode}`,
    "of a target": "target=tms",
    "of a former target": "target=former",
    "of a target that never was": "target=nowhere",
    open: "state=open",
    waiting: "state=waiting",
    behind: "state=behind",
    delivered: "state=delivered",
    dead: "state=dead",
    dropped: "state=dropped",
    "dropped, of a former target": "state=dropped&target=former",
    exports: "kind=export",
    messages: "kind=message",
    "exports that are dead": "kind=export&state=dead",
    "messages of a former target": "kind=message&target=former",
    "of the beginning of a name": "name=K0001*",
    "of a name in the middle": "name=*000777*",
    "of a name that never was": "name=*nowhere*",
    "of a stop that never was": "stop=nowhere",
    "of some days": "from=2026-01-05&to=2026-01-06",
  };
  return {
    ...Object.fromEntries(
      Object.entries(filters).map(([name, query]) => [
        `deliveries, ${name}`,
        always(`/console/deliveries?${query}`),
      ]),
    ),
    "deliveries of a name": drawn(deliveries, ({ name }) => `/console/deliveries?name=${name}`),
    "deliveries of a stop": drawn(deliveries, ({ stopNbr }) => `/console/deliveries?stop=${stopNbr}`),
    "deliveries, the next page": always(linked.nextDeliveries),
    exports: always("/console/exports"),
    "exports of one company": always(`/console/exports?company=${companyCode}`),
  };
}

function administering({ users }: Samples, { nextAudit }: Linked): Pages {
  const audits: Readonly<Record<string, string>> = {
    "": "",
    " of a user": "user=person017",
    " of nobody": "user=nobody",
    " of a kind": "kind=content.seen",
    " of a rare kind": "kind=user.roles",
    " of a kind that never was": "kind=ban.lift",
    " of a subject that never was": "subject=user%20nobody",
    " of a day": "day=2026-10-05",
  };
  return {
    remotes: always("/console/remotes"),
    health: always("/console/health"),
    users: always("/console/users"),
    "users of a name": always("/console/users?name=person1"),
    "users of one company": always(`/console/users?company=${companyCode}`),
    "a user": drawn(users, ({ id }) => `/console/users/${id}`),
    ...Object.fromEntries(
      Object.entries(audits).map(([name, query]) => [`audit${name}`, always(`/console/audit?${query}`)]),
    ),
    "audit, the next page": always(nextAudit),
    "audit as CSV": always("/console/audit.csv"),
    "for host developers": always("/console/hosts"),
    "for host developers, all files": always("/console/hosts?of=company"),
  };
}

/** All pages, each with its filters. */
export function consolePages(samples: Samples, linked: Linked): Pages {
  return {
    today: always("/console"),
    "today, 24 hours": always("/console?span=24h"),
    "today, two weeks": always("/console?span=14d"),
    "what waits longest": always("/console/waiting"),
    "what waits longest of one company": always(`/console/waiting?company=${companyCode}`),
    ...finding(samples, linked),
    ...listingFiles(samples, linked),
    ...showingOne(samples, linked),
    ...listingDeliveries(samples, linked),
    ...administering(samples, linked),
  };
}
