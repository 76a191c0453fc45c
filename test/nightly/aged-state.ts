/**
 * A state of years, planted: entries of the ledger over many days, of which some days still have their files, receipts, stops,
 * events and documents. Before and after those days everything was pruned, as by passes of long ago, but for stops that
 * nobody has ever closed.
 *
 *   |<────────────────────────────── entries, so many a day ──────────────────────────────>| now
 *   |<─ days to be forgotten ─>|        |<─ days with files ─>|
 */
import { hash, randomUUID } from "node:crypto";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { dayMs } from "../../src/lib/durations.ts";
import { receiptNameOf } from "../../src/domain/files/stop-file-name.ts";
import { documentsFolderName } from "../../src/inbound/places/locations.ts";
import { ledgerNumberKind } from "../../src/inbound/receipts/receipts.ts";
import { contentPath } from "../../src/lib/files/content-store.ts";
import { createSealedNumbers, type SealedNumbers } from "../../src/lib/sealed-numbers.ts";
import { openStore } from "../../src/store/database/database.ts";
import { sealingKeyOf } from "../../src/store/database/meta.ts";
import { company, type Site } from "../support/daemon.ts";
import { withoutIndexes } from "../support/without-indexes.ts";

export interface AgedStatePlan {
  /** Entries of the ledger. */
  readonly rows: number;
  /** How many of them were decided on one day. */
  readonly perDay: number;
  /** How many passes there are to be, each of which finds one more day too old. */
  readonly passes: number;
}

const padding = "<!-- as long as most -->".repeat(80);
const openStatus = "10";
const overStatus = "90";
/** One of so many was refused, comes again as a duplicate, has a document, belongs to a stop that nobody has closed. */
const every = { refused: 20, duplicate: 100, document: 10, openStop: 100 };
const duplicateAfterDays = 3;
const eventCodes = [8100, 7028, 7007, 7009];

/** Ages in days for a pass, counted from 0: of files, events and documents, and of entries. */
export function agesOfPass({ rows, perDay }: AgedStatePlan, pass: number) {
  const days = Math.floor(rows / perDay);
  const files = Math.floor(days / 2) - 1 - pass;
  return {
    archive: files,
    error: files,
    receipts: files,
    events: files,
    documents: files,
    ledger: days - 1 - pass,
  };
}

/** Throws when there are too few days for the passes. */
function checkPlan(plan: AgedStatePlan): void {
  const { archive } = agesOfPass(plan, plan.passes);
  if (archive < 2 * duplicateAfterDays)
    throw new Error(
      `${plan.rows} rows, ${plan.perDay} a day, are too few days for ${plan.passes} passes: plant more rows`,
    );
}

/** Everything that is known of an entry by its place in the order, from 0. */
interface Planted {
  readonly id: number;
  readonly name: string;
  readonly stopNbr: string;
  readonly decidedAt: number;
  readonly state: "applied" | "refused" | "duplicate";
  readonly firstId: number | null;
  /** Its bytes and all that belongs to them are there. */
  readonly isThere: boolean;
  readonly location: string;
  readonly text: string;
}

function isOneOf(nth: number, share: number): boolean {
  return nth % share === share - 1;
}

function isDuplicate(nth: number, perDay: number): boolean {
  return nth >= duplicateAfterDays * perDay && isOneOf(nth, every.duplicate);
}

function plantedAt(nth: number, { plan, now }: Planting): Planted {
  const { rows, perDay, passes } = plan;
  const decidedAt = Math.floor(now - ((rows - nth) * dayMs) / perDay);
  const firstId = isDuplicate(nth, perDay) ? nth - duplicateAfterDays * perDay + 1 : null;
  const state = firstId === null ? (isOneOf(nth + 1, every.refused) ? "refused" : "applied") : "duplicate";
  const stopNbr = `P${firstId === null ? nth : firstId - 1}`;
  const name = `${stopNbr}_20250101_080000.xml`;
  const ageDays = (now - decidedAt) / dayMs;
  const oldest = agesOfPass(plan, -1).archive;
  const folder = `${state === "refused" ? "error" : "archive"}/${new Date(decidedAt).toISOString().slice(0, 10)}`;
  const own = firstId === null ? name : `${stopNbr}_20250101_080000.${nth}.xml`;
  return {
    ...{ id: nth + 1, name, stopNbr, decidedAt, state, firstId },
    isThere: ageDays <= oldest && ageDays > oldest - passes - 1,
    location: `companies/${company}/${folder}/${own}`,
    text: `<Stop><StopNbr>${stopNbr}</StopNbr></Stop>${padding}`,
  };
}

interface Planting {
  readonly site: Site;
  readonly plan: AgedStatePlan;
  readonly now: number;
  readonly database: BetterSqlite.Database;
  readonly numbers: Pick<SealedNumbers, "seal">;
}

/** Writes files below the state directory; each folder is made once. */
function createWriter(stateDir: string): (path: string, text: string, at: number) => void {
  const made = new Set<string>();
  return (path, text, at) => {
    const whole = join(stateDir, path);
    if (!made.has(dirname(whole))) mkdirSync(dirname(whole), { recursive: true });
    made.add(dirname(whole));
    writeFileSync(whole, text);
    utimesSync(whole, at / 1000, at / 1000);
  };
}

function receiptOf(seal: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<StopResponse Ledger="${seal}">\n  <Status>10</Status>\n</StopResponse>\n`;
}

function createInserts(database: BetterSqlite.Database) {
  return {
    file: database.prepare(
      `insert into files (id, company_id, name, name_time, sha256, size, channel, user_name, received_at, state,
         stop_function, stop_nbr, document_id, reasons, records_created, records_updated, records_deleted, decided_at,
         source, location, is_filed, first_id, removed_at, pruned_days)
       values (?, 1, ?, 20250101080000, ?, ?, 'sftp', 'host', ?, ?, '01', ?, null, '[]', 1, 0, 0, ?, ?, ?, 1, ?, ?, ?)`,
    ),
    stop: database.prepare(
      `insert into stops (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, body, execution, created_at,
         updated_at) values (1, ?, ?, ?, '00', ?, '{}', ?, ?)`,
    ),
    event: database.prepare(
      `insert into recorded_events (company_id, stop_nbr, load_nbr, event_code, recorded_at, data)
       values (1, ?, null, ?, ?, '{}')`,
    ),
    document: database.prepare(
      "insert into documents (company_id, guid, sha256, size, name, created_at) values (1, ?, ?, ?, 'pod.txt', ?)",
    ),
    mark: database.prepare(
      "insert into retention_marks (company_id, kind, decided_at, file_id) values (1, ?, ?, ?)",
    ),
  };
}

type Inserts = ReturnType<typeof createInserts>;
type Write = ReturnType<typeof createWriter>;

function plantEntry({ file }: Inserts, one: Planted, goneAt: number): void {
  const { id, name, stopNbr, decidedAt, state, firstId, isThere, location, text } = one;
  const [sha256, size] = isThere ? [hash("sha256", text), text.length] : [hash("sha256", name), name.length];
  const source = `companies/${company}/inbound/${name}`;
  const removal = isThere ? [null, null] : [goneAt, 1];
  const filed = [decidedAt, source, location, firstId, ...removal];
  file.run(id, name, sha256, size, decidedAt - 100, state, stopNbr, ...filed);
}

function plantFiles({ numbers }: Planting, write: Write, { id, name, location, text, decidedAt }: Planted) {
  const receipt = receiptOf(numbers.seal(id));
  write(location, text, decidedAt);
  write(`companies/${company}/receipts/${receiptNameOf(name)}`, receipt, decidedAt);
  if (location.includes("/error/"))
    write(
      join(dirname(location), receiptNameOf(location.slice(location.lastIndexOf("/") + 1))),
      receipt,
      decidedAt,
    );
}

/** A stop with its events; one that is open only where nobody has closed it. */
function plantStop({ stop, event }: Inserts, { stopNbr, decidedAt: at }: Planted, isOpen: boolean): void {
  const body = JSON.stringify({ stopNbr, instructions: padding.slice(0, 600) });
  stop.run(stopNbr, stopNbr.toLowerCase(), isOpen ? openStatus : overStatus, body, at, at);
  for (const code of isOpen ? eventCodes.slice(0, 2) : eventCodes) event.run(stopNbr, code, at);
}

function plantDocument({ document }: Inserts, write: Write, { stopNbr, decidedAt }: Planted): void {
  const content = `proof of the delivery of ${stopNbr}`;
  const sha256 = hash("sha256", content);
  write(contentPath(documentsFolderName, sha256), content, decidedAt);
  document.run(randomUUID(), sha256, content.length, decidedAt);
}

/** Up to where a pass of long ago has come. */
function plantMarks({ mark }: Inserts, planting: Planting): void {
  const { plan, now } = planting;
  const oldest = now - agesOfPass(plan, -1).archive * dayMs;
  const nth = Math.ceil(plan.rows - ((now - oldest) * plan.perDay) / dayMs) - 1;
  const { decidedAt, id } = plantedAt(nth, planting);
  for (const kind of ["archive", "error", "receipts"]) mark.run(kind, decidedAt, id);
}

function plantRows(planting: Planting): void {
  const { plan, now, site, database } = planting;
  const inserts = createInserts(database);
  const write = createWriter(site.stateDir);
  for (let nth = 0; nth < plan.rows; nth += 1) {
    const one = plantedAt(nth, planting);
    plantEntry(inserts, one, now);
    const isOpen = isOneOf(nth + 2, every.openStop);
    if (one.firstId === null && (one.isThere || isOpen)) plantStop(inserts, one, isOpen);
    if (!one.isThere) continue;
    plantFiles(planting, write, one);
    if (isOneOf(nth + 3, every.document)) plantDocument(inserts, write, one);
  }
  plantMarks(inserts, planting);
}

/** Plants it in a site that has not been started yet. Ages that are too old for the first pass: `agesOfPass(plan, 0)`. */
export async function plantAgedState(site: Site, plan: AgedStatePlan): Promise<void> {
  checkPlan(plan);
  const store = await openStore(site.stateDir);
  const numbers = createSealedNumbers(await sealingKeyOf(store), ledgerNumberKind);
  await store.close();
  const database = new BetterSqlite(join(site.stateDir, "dropgate.db"));
  // Nobody else has it, and it is made anew when this fails.
  for (const setting of [
    "journal_mode = delete",
    "journal_mode = off",
    "synchronous = off",
    "cache_size = -1000000",
  ])
    database.pragma(setting);
  const planting: Planting = { site, plan, now: Date.now(), database, numbers };
  const plant = database.transaction(() =>
    withoutIndexes(database, ["files", "recorded_events", "stops", "documents"], () => plantRows(planting)),
  );
  plant();
  database.pragma("journal_mode = wal");
  database.close();
}
