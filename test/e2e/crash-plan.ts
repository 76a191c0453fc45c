/** Which way leads to each kill point. */
import { existsSync, linkSync, mkdirSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { takingFolderName } from "../../src/endpoints/folders/sweep-copies.ts";
import { receiptNameOf } from "../../src/domain/files/stop-file-name.ts";
import { type KillPoint, killPoints } from "../../src/lib/kill-point.ts";
import { journaledName, journaledStops, plantFormerJournal } from "../support/former-journal.ts";
import { withDatabase } from "./crash-check.ts";
import { chainsOf, plainChain, retriedChain } from "./crash-orders.ts";
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

/** Whether only an older database comes by it; upgrades.test.ts takes those. */
export function isUpgradePoint(point: KillPoint): boolean {
  return point === "migrate.copied";
}

export const allPoints = (Object.keys(killPoints) as KillPoint[]).filter(
  (point) => !isDeliveryPoint(point) && !isRemotePoint(point) && !isUpgradePoint(point),
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

/** How often each upload of the journal of an earlier version was applied, and whether the journal is still there. */
async function assertTakenUp({ site }: CrashPlace): Promise<void> {
  const sql = "select count(*) as count from files where name = ? and state = 'applied'";
  const applied = withDatabase(site, (database) =>
    journaledStops.map(
      (stop) => database.prepare<[string], { count: number }>(sql).get(journaledName(stop))?.count,
    ),
  );
  if (applied.some((count) => count !== 1) || existsSync(join(site.stateDir, "journal")))
    throw new Error(`of the uploads in the journal were applied, one by one: ${applied}`);
}

/** An earlier version has left its journal of uploads, whose files a power failure took. */
function withFormerJournal(point: KillPoint): Plan {
  return usual((prefix, nth) => ({
    prefix,
    deaths: [at(point, nth)],
    before: async ({ site }) => plantFormerJournal(site.stateDir),
    afterwards: assertTakenUp,
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

/** It is made once, by the first copy. */
async function removeTakingFolder({ site }: CrashPlace): Promise<void> {
  rmSync(site.path("inbound", takingFolderName), { recursive: true, force: true });
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
  "generation.noted": startUp,
  "boot.noted": startUp,
  "recheck.written": (point) => afterDeathAt(point, "filing.noted:4", loseReceipts),
  "journal.takingUp": withFormerJournal,
  "journal.written": withFormerJournal,
  "journal.takenUp": withFormerJournal,
  "recovery.begun": startUp,
  "recovery.filingQueued": startUp,
  "recovery.redone": startUp,
  "recovery.loaded": (point) => afterDeathAt(point, "ledger.entered:3"),
  "recovery.inLine": (point) => afterDeathAt(point, "ledger.entered:3"),
  "sweep.removed": (point) => afterDeathAt(point, "place.linked:3"),
  "folder.leftoversSeen": (point) => afterDeathAt(point, "ledger.inserted:2"),
  "folder.scanned": (point) => afterDeathAt(point, "ledger.inserted:2"),
  "folder.takingMade": (point) =>
    usual((prefix, nth) => ({ prefix, deaths: [at(point, nth)], before: removeTakingFolder })),
  "folder.asideRecovered": (point) => afterDeathAt(point, "folder.setAside"),
  "folder.copySwept": (point) => afterDeathAt(point, "folder.copied"),
  "file.secondLinkRemoved": (point) => afterDeathAt(point, "file.begun:2", linkUnfiled),
  "filed.located": placeTaken,
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
