/**
 * The ways that lead to the steps at which the process can be made to die. Which steps there are on a way is not written
 * down: the daemon notes those it passes (`DROPGATE_STEPS_FILE`) in a run in which nothing happens to it.
 */
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { takingFolderName } from "../../src/endpoints/folders/sweep-copies.ts";
import { receiptNameOf } from "../../src/domain/files/stop-file-name.ts";
import { journaledName, journaledStops, plantFormerJournal } from "../support/former-journal.ts";
import { chainsOf, plainChain, retriedChain } from "./crash-orders.ts";
import type { CrashPlace, Death, Round } from "./crash-round.ts";
import { changeRows, rowsOf } from "../support/site-database.ts";

/** What a way needs to be tried on. */
export type Ground = "usual" | "firstStart" | "archiveElsewhere";

/** How the run ends that a way is about: at a step, or in peace, to learn the steps. */
export type WayEnd =
  | { readonly kind: "step"; readonly step: string }
  | { readonly kind: "peace"; readonly stepsFile: string };

export interface Way {
  readonly title: string;
  /** The run that it is about takes up what one before has left. */
  readonly takesUp?: boolean;
  readonly ground: Ground;
  roundFor(prefix: string, end: WayEnd): Round;
}

/** Steps, with how often the thread passed each of them that did so most. */
export type StepCounts = ReadonlyMap<string, number>;

/** What is noted in a file of steps: all of them, and those of the start, until all that was left is taken up. */
export function stepsIn(stepsFile: string): { readonly all: StepCounts; readonly start: StepCounts } {
  const lines = readFileSync(stepsFile, "utf8").trimEnd().split("\n");
  const started = lines.findIndex((line) => line.endsWith(" recovery.inLine"));
  return { all: countsOf(lines), start: countsOf(lines.slice(0, started + 1)) };
}

function countsOf(lines: readonly string[]): StepCounts {
  const steps = new Map<string, number>();
  for (const [line, { length }] of Map.groupBy(lines, (each) => each)) {
    const step = line.slice(line.indexOf(" ") + 1);
    steps.set(step, Math.max(length, steps.get(step) ?? 0));
  }
  return steps;
}

function usual(title: string, more: Omit<Partial<Round>, "prefix" | "deaths"> = {}): Way {
  return { title, ground: "usual", roundFor: (prefix, end) => ({ prefix, deaths: [end], ...more }) };
}

/** The first death leaves work behind; the run after it meets whoever takes it up. */
function afterDeathAt(step: string, between?: Round["between"]): Way {
  const first: Death = { kind: "step", step };
  return {
    title: `after ${step}`,
    takesUp: true,
    ground: "usual",
    roundFor: (prefix, end) => {
      const deaths = [first, end];
      return between === undefined ? { prefix, deaths } : { prefix, deaths, between };
    },
  };
}

function ofGround(ground: Ground): Way {
  return { title: ground, ground, roundFor: (prefix, end) => ({ prefix, deaths: [end] }) };
}

const stopping: Way = {
  title: "stopping",
  ground: "usual",
  roundFor: (prefix, end) => ({ prefix, deaths: [{ ...end, stopsAfterMs: 200 }] }),
};

const retried: Way = {
  title: "retried",
  ground: "usual",
  roundFor: (prefix, end) => ({
    prefix,
    deaths: [end],
    chains: (options) => [...chainsOf(prefix, options).slice(0, 2), retriedChain(`${prefix}-r`)],
  }),
};

/** A file of somebody else lies where the round's file is to go. */
const placeTaken: Way = {
  title: "place taken",
  ground: "usual",
  roundFor: (prefix, end) => {
    const chain = plainChain(`${prefix}-taken`);
    const planted = (place: CrashPlace) =>
      join(place.site.path("archive", new Date().toISOString().slice(0, 10)), chain.steps[0]?.name ?? "");
    return {
      prefix,
      deaths: [end],
      chains: () => [chain],
      async before(place) {
        mkdirSync(dirname(planted(place)), { recursive: true });
        await writeFile(planted(place), "of somebody else");
      },
      async afterwards(place) {
        rmSync(planted(place));
      },
    };
  },
};

/** How often each upload of the journal of an earlier version was applied, and whether the journal is still there. */
async function assertTakenUp({ site }: CrashPlace): Promise<void> {
  const sql = "select count(*) as count from files where name = ? and state = 'applied'";
  const applied = journaledStops.map(
    (stop) => rowsOf<{ count: number }>(site, sql, journaledName(stop))[0]?.count,
  );
  if (applied.some((count) => count !== 1) || existsSync(join(site.stateDir, "journal")))
    throw new Error(`of the uploads in the journal were applied, one by one: ${applied}`);
}

/** What a restart of the whole machine looks like: another boot, and receipts that were never written back. */
async function loseReceipts(place: CrashPlace): Promise<void> {
  const { site } = place;
  changeRows(site, "update meta set value = 'another boot' where key = 'boot_id'");
  const sql = "select name from files where is_filed = 1 order by id desc limit 6";
  const rows = rowsOf<{ name: string }>(site, sql);
  for (const { name } of rows) rmSync(site.path("receipts", receiptNameOf(name)), { force: true });
}

/** As if the moves had been links and unlinks, with the crash in between. */
async function linkUnfiled(place: CrashPlace): Promise<void> {
  const { site } = place;
  const sql = "select source, location from files where is_filed = 0 and state <> 'waiting'";
  const rows = rowsOf<{ source: string; location: string }>(site, sql);
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

/** All ways; a step belongs to the first of them that passes it. */
export const ways: readonly Way[] = [
  usual("usual"),
  afterDeathAt("commit@decide-group.decideOnce:2"),
  afterDeathAt("commit@entering-files.enterTogether:3"),
  afterDeathAt("link@place-arrival.linkReserved:3"),
  afterDeathAt("unit@entering-files.enterTogether:2"),
  afterDeathAt("write@copy-files.writeAll"),
  afterDeathAt("rename@place-files.exchange"),
  afterDeathAt("rename@file-away.writeReceipt", linkUnfiled),
  afterDeathAt("commit@filing-queue.note:4", loseReceipts),
  usual("folder for copies made", { before: removeTakingFolder }),
  // An earlier version has left its journal of uploads, whose files a power failure took.
  usual("former journal", {
    before: async ({ site }) => plantFormerJournal(site.stateDir),
    afterwards: assertTakenUp,
  }),
  placeTaken,
  retried,
  stopping,
  ofGround("firstStart"),
  ofGround("archiveElsewhere"),
];

/** On the way of a file of a remote, to its place, into the ledger, and until it is settled on its server. */
export const remoteSteps = [
  ...["create@fetch-file.openNew", "write@fetch-file", "fsync@fetch-file.download"],
  ...["unit@remote-memory.noteTaken", "commit@remote-memory.noteTaken"],
  ...["link@place-arrival.linkReserved", "syncFolder@place-arrival.placeByName", "inbox.arriving"],
  ...["unit@entering-files.enterTogether", "commit@entering-files.enterTogether"],
  ...["remote@fetch-worker.withFile", "commit@remote-memory.forget"],
];
