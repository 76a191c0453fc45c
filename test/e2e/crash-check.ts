/** Whether a round of the crash test has left everything as it must be: ledger, stops, events, receipts, folders. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeStopResponse } from "../../src/documents/writing/stop-response.ts";
import { baseNameOf, receiptNameOf } from "../../src/domain/files/stop-file-name.ts";
import { ledgerNumberKind } from "../../src/inbound/receipts/receipts.ts";
import type { Fault } from "../../src/lib/errors.ts";
import { createSealedNumbers } from "../../src/lib/sealed-numbers.ts";
import type { Site } from "../support/daemon.ts";
import { waitFor } from "../support/wait-for.ts";
import type { Folders, Sent } from "./crash-host.ts";
import type { FinalStop } from "./crash-orders.ts";
import { rowsOf } from "../support/site-database.ts";

interface FileRow {
  readonly id: number;
  readonly name: string;
  readonly sha256: string | null;
  readonly received_at: number;
  readonly state: string;
  readonly document_id: string | null;
  readonly reasons: string;
  readonly records_created: number;
  readonly records_updated: number;
  readonly records_deleted: number;
  readonly decided_at: number;
  readonly location: string;
  readonly is_filed: number;
  readonly first_id: number | null;
}

interface StopRow {
  readonly stop_status: string;
  readonly body: string;
}

export interface LedgerRow {
  readonly name: string;
  readonly state: string;
}

/** All entries, in the order in which they came. Does not start the program, as `dropgate files` does. */
export function ledgerOf(site: Site): readonly LedgerRow[] {
  const sql = "select name, state from files order by id";
  return rowsOf<LedgerRow>(site, sql);
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Everything that must not be there when nothing waits: files on their way, parts, copies, temporary names. */
function leftovers(site: Site, folders: Folders): string[] {
  const waiting = [site.path("inbound"), folders.folder, folders.otherDisk].flatMap(filesBelow);
  const temporary = filesBelow(site.path()).filter((path) => basename(path).startsWith("."));
  return [...new Set([...waiting, ...temporary])];
}

function unfiled(site: Site): number {
  const sql = "select count(*) as count from files where is_filed = 0";
  return rowsOf<{ count: number }>(site, sql)[0]?.count ?? 0;
}

/** Resolves when no file waits or is on its way; rejects with what is left at the deadline. */
export async function untilQuiet(site: Site, folders: Folders): Promise<void> {
  let left: string[] = [];
  try {
    await waitFor("quiet", () => {
      left = leftovers(site, folders);
      return left.length === 0 && unfiled(site) === 0;
    });
  } catch {
    throw new Error(`not quiet: ${unfiled(site)} entries not filed; left over: ${left.join(", ")}`);
  }
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function codesOf(row: FileRow): string[] {
  return (JSON.parse(row.reasons) as readonly Fault[]).map(({ code }) => code);
}

function cameLater(one: FileRow, other: FileRow): boolean {
  return one.received_at > other.received_at || (one.received_at === other.received_at && one.id > other.id);
}

export class CrashCheck {
  readonly problems: string[] = [];
  readonly #site: Site;
  readonly #sealingKey: string;
  readonly #byId: ReadonlyMap<number, FileRow>;
  readonly #byName: ReadonlyMap<string, readonly FileRow[]>;

  private constructor(site: Site) {
    this.#site = site;
    const [key] = rowsOf<{ value: string }>(site, "select value from meta where key = 'number_key'");
    this.#sealingKey = key?.value ?? "";
    const files = rowsOf<FileRow>(site, "select * from files order by decided_at, id");
    this.#byId = new Map(files.map((row) => [row.id, row]));
    this.#byName = Map.groupBy(files, ({ name }) => name);
  }

  /** What is wrong, in words; empty when all is well. */
  static run(site: Site, sent: Iterable<Sent>, stops: readonly FinalStop[]): string[] {
    const check = new CrashCheck(site);
    const all = [...sent];
    for (const each of all) check.#checkSent(each);
    for (const name of new Set(all.map(({ step }) => step.name))) check.#checkReceipts(name);
    for (const stop of stops) check.#checkStop(stop);
    check.#checkStaleReceipts();
    return check.problems;
  }

  #entries(name: string): readonly FileRow[] {
    return this.#byName.get(name) ?? [];
  }

  /** One entry that was decided on its merits; all others of the content are duplicates of it. */
  #checkSent({ step, tries, answers }: Sent): void {
    const sha256 = sha256Of(step.content);
    const entries = this.#entries(step.name).filter((row) => row.sha256 === sha256);
    const about = `${step.name} (${step.route}, sent ${tries} times, answered ${answers})`;
    // A crash while a file is taken from a folder may leave it in both places: it is taken twice, applied once.
    const mostEntries = ["folder", "otherDisk", "inbound"].includes(step.route) ? tries + 3 : tries;
    if (entries.length < answers || entries.length > mostEntries)
      this.problems.push(`${about}: ${entries.length} ledger entries`);
    const originals = entries.filter(({ state }) => state !== "duplicate");
    const [original] = originals;
    if (original === undefined || originals.length > 1) {
      this.problems.push(`${about}: decided ${originals.length} times: ${entries.map(({ state }) => state)}`);
      return;
    }
    const codes = codesOf(original);
    const wanted = step.outcome.codes;
    const isExpected = wanted === undefined || codes.every((code) => wanted.includes(code));
    if (original.state !== step.outcome.state || !isExpected)
      this.problems.push(
        `${about}: is ${original.state} ${codes}, not ${step.outcome.state} ${wanted ?? ""}`,
      );
  }

  #firstOf(row: FileRow): FileRow {
    if (row.first_id === null) return row;
    return this.#byId.get(row.first_id) ?? row;
  }

  #isRefusal(row: FileRow): boolean {
    return ["refused", "superseded"].includes(this.#firstOf(row).state);
  }

  #receiptOf(row: FileRow): string {
    const source = this.#firstOf(row);
    return writeStopResponse({
      file: {
        sha256: row.sha256 ?? undefined,
        receivedAt: row.received_at,
        ledger: createSealedNumbers(this.#sealingKey, ledgerNumberKind).seal(row.id),
      },
      documentId: source.document_id ?? baseNameOf(source.name),
      faults: JSON.parse(source.reasons) as readonly Fault[],
      created: source.records_created,
      updated: source.records_updated,
      deleted: source.records_deleted,
    });
  }

  #checkReceipts(name: string): void {
    const all = this.#entries(name);
    // A refusal leaves the receipt of one that came later.
    const isOutdated = (row: FileRow) =>
      this.#isRefusal(row) && all.some((other) => other !== row && cameLater(other, row));
    const entries = all.filter((row) => !isOutdated(row));
    // Those of one millisecond were decided in an order that the ledger does not tell.
    const last = entries.filter((row) => row.decided_at === entries.at(-1)?.decided_at);
    if (last.length > 0) this.#checkReceipt(this.#site.path("receipts", receiptNameOf(name)), last);
    for (const row of all) {
      if (row.state !== "refused" && row.state !== "superseded") continue;
      const place = join(this.#site.stateDir, row.location);
      this.#checkReceipt(join(dirname(place), receiptNameOf(basename(place))), [row]);
    }
  }

  /** A receipt in `error/` stands beside its file. */
  #checkStaleReceipts(): void {
    const ending = ".receipt.xml";
    for (const path of filesBelow(this.#site.path("error")).filter((each) => each.endsWith(ending))) {
      if (!existsSync(`${path.slice(0, -ending.length)}.xml`))
        this.problems.push(`${path} has no file beside it`);
    }
  }

  /** It is the receipt of one of the rows. */
  #checkReceipt(path: string, rows: readonly FileRow[]): void {
    if (!existsSync(path)) {
      this.problems.push(`no receipt ${path}`);
      return;
    }
    const text = readFileSync(path, "utf8");
    if (rows.some((row) => this.#receiptOf(row) === text)) return;
    const entries = rows.map(({ id, state, decided_at }) => `${id} (${state}, decided at ${decided_at})`);
    const others = this.#entries(basename(path).replace(/\.receipt\.xml$/, ".xml"));
    const all = others.map(({ id, state, decided_at }) => `${id} ${state} ${decided_at}`);
    this.problems.push(
      `${path} is not the receipt of ledger entry ${entries.join(" or ")}; of ${all.join(", ")}`,
    );
  }

  #eventsOf(stopNbr: string, code: number): number {
    const sql = "select count(*) as count from recorded_events where stop_nbr = ? and event_code = ?";
    return rowsOf<{ count: number }>(this.#site, sql, stopNbr, code)[0]?.count ?? 0;
  }

  #checkStop(stop: FinalStop): void {
    const { stopNbr } = stop;
    const sql = "select stop_status, body from stops where stop_nbr = ?";
    const [row] = rowsOf<StopRow>(this.#site, sql, stopNbr);
    const seen = {
      status: row?.stop_status,
      hasMark: row?.body.includes(`"${stop.mark}"`),
      updatedEvents: this.#eventsOf(stopNbr, 7053),
      cancelledEvents: this.#eventsOf(stopNbr, 7059),
    };
    const { status, updatedEvents, cancelledEvents } = stop;
    const wanted = { status, hasMark: true, updatedEvents, cancelledEvents };
    if (JSON.stringify(seen) !== JSON.stringify(wanted))
      this.problems.push(`stop ${stopNbr}: ${JSON.stringify(seen)}, wanted ${JSON.stringify(wanted)}`);
  }
}
