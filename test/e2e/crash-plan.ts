/** Which way leads to each kill point. */
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { receiptNameOf } from "../../src/domain/stop-file-name.ts";
import { readJournal } from "../../src/exchange/journal-file.ts";
import { type JournalNote, journalFileNames } from "../../src/exchange/upload-journal.ts";
import { systemDisk } from "../../src/lib/durable-file.ts";
import { type KillPoint, killPoints } from "../../src/lib/kill-point.ts";
import { withDatabase } from "./crash-check.ts";
import { type Chain, chainsOf, plainChain, retriedChain } from "./crash-orders.ts";
import type { CrashPlace, Death, Round } from "./crash-round.ts";

/** What a plan needs to be tried on. */
export type Ground = "usual" | "firstStart" | "archiveElsewhere";

export interface Plan {
  readonly ground: Ground;
  /** Deaths and whatever else belongs to the round; `nth` is the pass of the point at which the process dies. */
  roundFor(prefix: string, nth: number): Round;
}

/** Whether the point is on the way of a delivery; crash-deliveries.test.ts takes those. */
export function isDeliveryPoint(point: KillPoint): boolean {
  return point.startsWith("delivery.") || point.startsWith("completion.");
}

/** Whether the point is on the way of a file of a remote alone; crash-remotes.test.ts takes those. */
export function isRemotePoint(point: KillPoint): boolean {
  return point.startsWith("remote.");
}

export const allPoints = (Object.keys(killPoints) as KillPoint[]).filter(
  (point) => !isDeliveryPoint(point) && !isRemotePoint(point),
);

function at(point: string, nth = 1): Death {
  return { kind: "point", point: `${point}:${nth}` };
}

function usual(roundFor: Plan["roundFor"]): Plan {
  return { ground: "usual", roundFor };
}

/** The first death leaves work behind; the second one meets whoever takes it up. */
function afterDeathAt(point: KillPoint, first: string, between?: Round["between"]): Plan {
  return usual((prefix, nth) => {
    const deaths = [at(first), at(point, nth)];
    return between === undefined ? { prefix, deaths } : { prefix, deaths, between };
  });
}

function stopping(point: KillPoint): Plan {
  return usual((prefix) => ({ prefix, deaths: [{ kind: "stopping", point, afterMs: 200 }] }));
}

function retried(point: KillPoint): Plan {
  return usual((prefix) => ({
    prefix,
    deaths: [at(point)],
    chains: (options) => [...chainsOf(prefix, options).slice(0, 2), retriedChain(`${prefix}-r`)],
  }));
}

/** A file of somebody else lies where the round's file is to go. */
function placeTaken(point: KillPoint): Plan {
  return usual((prefix) => {
    const chain = plainChain(`${prefix}-taken`);
    const planted = (place: CrashPlace) =>
      join(place.site.path("archive", new Date().toISOString().slice(0, 10)), chain.steps[0]?.name ?? "");
    return {
      prefix,
      deaths: [at(point)],
      chains: () => [chain],
      async before(place) {
        mkdirSync(dirname(planted(place)), { recursive: true });
        await writeFile(planted(place), "of somebody else");
      },
      async afterwards(place) {
        rmSync(planted(place));
      },
    };
  });
}

/** So many files, two at a time, that they are gathered, and go through the journal of uploads. */
export function burstOf(prefix: string, count = 150): readonly Chain[] {
  return ["a", "b"].map((side) => {
    const chains = Array.from({ length: count }, (_, index) => plainChain(`${prefix}-${side}${index}`));
    return {
      steps: chains.flatMap(({ steps }) => steps),
      stops: chains.flatMap(({ stops }) => stops),
    };
  });
}

function inBurst(point: KillPoint): Plan {
  return usual((prefix, nth) => ({ prefix, deaths: [at(point, nth)], chains: () => burstOf(prefix) }));
}

/** What a power failure does to a file that was not synced: missing, empty, torn, or full of zeros. */
export const losses: readonly ((path: string) => void)[] = [
  (path) => rmSync(path),
  (path) => truncateSync(path),
  (path) => truncateSync(path, 100),
  (path) => writeFileSync(path, Buffer.alloc(statSync(path).size)),
];

/** Final paths of the uploads that are in the journal. */
async function journaledPaths({ site }: CrashPlace): Promise<string[]> {
  const paths: string[] = [];
  for (const name of journalFileNames) {
    const fd = openSync(join(site.stateDir, "journal", name), "r");
    for await (const { note } of readJournal(systemDisk, fd))
      paths.push(join(site.stateDir, "companies", (JSON.parse(note) as JournalNote).path));
    closeSync(fd);
  }
  return paths;
}

/** What was placed and not synced, as a power failure may leave it. Says how much that is. */
export async function loseUnsynced(place: CrashPlace): Promise<number> {
  const paths = (await journaledPaths(place)).filter((path) => existsSync(path));
  for (const [index, path] of paths.entries()) losses[index % losses.length]?.(path);
  return paths.length;
}

/** The second death meets whoever takes up the journal. */
function afterBurst(point: KillPoint): Plan {
  return usual((prefix, nth) => ({
    prefix,
    deaths: [at("journal.settling"), at(point, nth)],
    chains: () => burstOf(prefix),
    between: async (place) => void (await loseUnsynced(place)),
  }));
}

/** What a restart of the whole machine looks like: another boot, and receipts that were never written back. */
export async function loseReceipts(place: CrashPlace): Promise<void> {
  const { site } = place;
  const database = new BetterSqlite(join(site.stateDir, "dropgate.db"));
  database.prepare("update meta set value = 'another boot' where key = 'boot_id'").run();
  const sql = "select name from files where is_filed = 1 order by id desc limit 6";
  const rows = database.prepare<[], { name: string }>(sql).all();
  database.close();
  for (const { name } of rows) rmSync(site.path("receipts", receiptNameOf(name)), { force: true });
}

/** As if the moves had been links and unlinks, with the crash in between. */
async function linkUnfiled(place: CrashPlace): Promise<void> {
  const { site } = place;
  const sql = "select source, location from files where is_filed = 0 and state <> 'waiting'";
  const rows = withDatabase(site, (database) =>
    database.prepare<[], { source: string; location: string }>(sql).all(),
  );
  for (const { source, location } of rows) {
    const [from, to] = [join(site.stateDir, source), join(site.stateDir, location)];
    mkdirSync(dirname(to), { recursive: true });
    if (existsSync(from) && !existsSync(to)) linkSync(from, to);
  }
}

const leavesDecided = "decide.committed:2";

function startUp(point: KillPoint): Plan {
  return afterDeathAt(point, leavesDecided);
}

function ofGround(ground: Ground): (point: KillPoint) => Plan {
  return (point) => ({ ground, roundFor: (prefix) => ({ prefix, deaths: [at(point)] }) });
}

const firstStart = ofGround("firstStart");
const archiveElsewhere = ofGround("archiveElsewhere");

/** The points that the usual round does not come by at its first start. */
const specialPlans: Readonly<Partial<Record<KillPoint, (point: KillPoint) => Plan>>> = {
  "lock.taken": startUp,
  "lock.pidWritten": startUp,
  "store.opened": startUp,
  "store.migrated": startUp,
  "migrate.begun": startUp,
  "migrate.stepDone": firstStart,
  "store.instanceNoted": firstStart,
  "store.markerWritten": firstStart,
  "boot.noted": startUp,
  "recheck.written": (point) => afterDeathAt(point, "filing.noted:4", loseReceipts),
  "journal.recovering": afterBurst,
  "journal.written": afterBurst,
  "journal.recovered": afterBurst,
  "recovery.begun": startUp,
  "recovery.filingQueued": startUp,
  "recovery.redone": startUp,
  "recovery.loaded": (point) => afterDeathAt(point, "ledger.entered:3"),
  "recovery.inLine": (point) => afterDeathAt(point, "ledger.entered:3"),
  "sweep.removed": (point) => afterDeathAt(point, "place.linked:3"),
  "folder.leftoversSeen": (point) => afterDeathAt(point, "ledger.inserted:2"),
  "folder.scanned": (point) => afterDeathAt(point, "ledger.inserted:2"),
  "folder.copySwept": (point) => afterDeathAt(point, "folder.copied"),
  "file.secondLinkRemoved": (point) => afterDeathAt(point, "file.begun:2", linkUnfiled),
  "filed.located": placeTaken,
  "journal.opened": inBurst,
  "journal.synced": inBurst,
  "journal.settling": inBurst,
  "journal.filesSynced": inBurst,
  "journal.emptied": inBurst,
  "move.copied": archiveElsewhere,
  "move.copySynced": archiveElsewhere,
  "move.copyLinked": archiveElsewhere,
  "move.copyUnlinked": archiveElsewhere,
  "move.sourceRemoved": archiveElsewhere,
  "retry.requested": (point) => usual((prefix) => ({ ...retried(point).roundFor(prefix, 1), deaths: [] })),
  "retry.accepted": retried,
  "retry.inLine": retried,
  "stop.pipeline": stopping,
  "stop.lanes": stopping,
  "stop.filing": stopping,
  "stop.store": stopping,
};

/** The plan of a point. */
export function planFor(point: KillPoint): Plan {
  const special = specialPlans[point];
  if (special !== undefined) return special(point);
  return usual((prefix, nth) => ({ prefix, deaths: [at(point, nth)] }));
}

/** Points that the usual round passes often, so that a later pass makes sense. */
export const frequentPoints = allPoints.filter(
  (point) => specialPlans[point] === undefined && !point.startsWith("again.") && !point.startsWith("folder."),
);
