/**
 * Steps at which the process can be made to die, so that tests can show what survives a crash at each of them.
 *
 * Most steps are passed at *seams*, and need no line where the work is done: the calls that change a file system
 * (`files/changes.ts`), units of work and their commits (`group-commit.ts`), calls to servers of others. A step of a seam
 * is called after the call and who makes it, `rename@place-files.exchange`: kind, file and function. It is passed when
 * the call has come back; one that fails is no step. `killPoints` are the few moments between two such calls that
 * matter all the same.
 *
 * `DROPGATE_KILL_POINT=step[:nth]` in the environment at the start arms one step: its nth pass (the first unless told
 * otherwise) ends the process with SIGKILL, so that nothing is flushed, answered or tidied up any more.
 * `DROPGATE_STEPS_FILE=path` has each pass noted there, as `<process>.<thread> <step>`: that is how tests learn which steps
 * there are. Both work in worker threads too; each thread counts its own passes. Without them a seam is the call itself.
 */
import { appendFileSync } from "node:fs";
import { dirname, sep } from "node:path";
import { threadId } from "node:worker_threads";

/** Every point, in the order of a file's way, with what has been done when it is passed. */
const killPoints = {
  "lock.taken": "the state directory is locked",
  "store.opened": "the database file is there, with its pragmas",
  "migrate.begun": "the table with the number of the schema is there",
  "migrate.stepDone": "a migration has run, not committed",
  "store.migrated": "the schema is up to date",
  "store.instanceNoted": "the instance id is in the database, not in the marker",
  "copy.tableWritten": "a table is written to the target of a copy, not compared",
  "copy.compared": "the target of a copy is compared with its source; it is no state yet",
  "recovery.begun": "nothing of an earlier run has been taken up",
  "recovery.redone": "the decided files of an earlier run are filed",
  "recovery.inLine": "all waiting entries are back in line",
  "upload.opened": "an upload is opened; nothing of it is on the disk",
  "upload.closing": "the close has come",
  "upload.finished": "the upload has its place; the close is not answered",
  "folder.scanned": "a folder has been scanned",
  "inbox.arriving": "the pipeline has been called with files",
  "prepare.begun": "a document is about to be read",
  "prepare.done": "a document has been read and validated",
  "decide.grouped": "files that are decided together are taken from the line",
  "filing.sent": "decided files are about to be filed away",
  "filing.done": "the main thread knows that a group is filed; the ledger does not",
  "retry.inLine": "a file to be tried again is in line",
  "delivery.taken": "a delivery is about to be rendered",
  "delivery.rendered": "the files of a delivery are rendered, nothing is sent",
  "delivery.sent": "an attempt is over; its outcome is not recorded",
  "stop.pipeline": "the pipeline is told to stop",
  "stop.lanes": "nothing is decided any more",
  "stop.filing": "what was decided is filed",
  "stop.store": "all units of work are committed; the database is about to be closed",
} as const;

export type KillPoint = keyof typeof killPoints;

const seamKinds = [
  // The way of a file: made, filled, made durable, named.
  ...[
    "mkdir",
    "create",
    "write",
    "copyFile",
    "truncate",
    "fsync",
    "syncFolder",
    "link",
    "rename",
    "unlink",
    "utimes",
    "chmod",
  ],
  // The database: a unit has run, not committed; it is committed, and nobody has been answered.
  ...["unit", "commit"],
  // A server of somebody else has done what it was asked for.
  "remote",
] as const;

export type SeamKind = (typeof seamKinds)[number];

interface ArmedStep {
  readonly name: string;
  readonly nth: number;
}

function armedBy(value: string | undefined): ArmedStep | undefined {
  if (value === undefined || value === "") return undefined;
  const [name = "", nth = "1"] = value.split(":");
  const isKnown = Object.hasOwn(killPoints, name) || seamKinds.some((kind) => name.startsWith(`${kind}@`));
  if (!isKnown || !/^[1-9]\d{0,8}$/.test(nth)) {
    throw new Error(
      `DROPGATE_KILL_POINT=${value}: expected <step>[:<nth pass>] with a step of src/lib/kill-point.ts`,
    );
  }
  return { name, nth: Number(nth) };
}

/** Read once, at the start of the process or thread: what nobody watches then costs nothing later. */
const armed = armedBy(process.env["DROPGATE_KILL_POINT"]);
/** An empty one counts as none, as with the other variable. */
const stepsFile = process.env["DROPGATE_STEPS_FILE"] || undefined;
const isWatched = armed !== undefined || stepsFile !== undefined;
let passes = 0;

function pass(name: string): void {
  if (stepsFile !== undefined) appendFileSync(stepsFile, `${process.pid}.${threadId} ${name}\n`);
  if (armed === undefined || armed.name !== name) return;
  passes += 1;
  if (passes === armed.nth) process.kill(process.pid, "SIGKILL");
}

/** Ends the process when this is the armed pass of the armed point. */
export function killPoint(name: KillPoint): void {
  if (isWatched) pass(name);
}

const sourceRoot = dirname(import.meta.dirname) + sep;
/** They hand calls on: what counts is who has called them. */
const carriers =
  /^(?:lib\/|store\/database\/(?:groups\/group-commit|dialects\/assemble-store)|store\/cluster\/ownership|targets\/folder\/(?:folder-disk|pending-calls)|app\/admin\/admin-store|endpoints\/folders\/take-calls)/;
const framePattern =
  /^\s*at (?:async )?(?:(?:new )?(\S+) (?:\[as \S+\] )?\()?(?:file:\/\/)?(\/[^():]+)\.[jt]s:\d+:\d+\)?$/;

/** The file and the function that have made a call, by its stack. Also of a lost one: then who has handed it on last. */
function callerIn(stack: string): string {
  let last = "unknown";
  for (const line of stack.split("\n")) {
    const [, called = "", path = ""] = framePattern.exec(line) ?? [];
    if (!path.startsWith(sourceRoot)) continue;
    const place = path.slice(sourceRoot.length);
    if (place === "lib/kill-point") continue;
    const name = /[\w$]+$/.exec(called)?.[0];
    last = place.replace(/^.*\//, "") + (name === undefined ? "" : `.${name}`);
    if (!carriers.test(place)) return last;
  }
  return last;
}

function caller(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 40;
  const stack = new Error().stack ?? "";
  Error.stackTraceLimit = stackTraceLimit;
  return callerIn(stack);
}

const unwatched = (): void => undefined;

/** To be called when what the caller begins now has come back: a step of his then. */
export function beginStep(kind: SeamKind): () => void {
  if (!isWatched) return unwatched;
  const name = `${kind}@${caller()}`;
  return () => pass(name);
}

/** The same call, each return of which is a step of who has made it; of calls that change nothing (`when`) not. */
export function seam<Given extends unknown[], Result>(
  kind: SeamKind,
  call: (...given: Given) => Result,
  when: (...given: Given) => boolean = () => true,
): (...given: Given) => Result {
  if (!isWatched) return call;
  return (...given) => {
    if (!when(...given)) return call(...given);
    const passed = beginStep(kind);
    const outcome = call(...given);
    if (outcome instanceof Promise) void outcome.then(passed, unwatched);
    else passed();
    return outcome;
  };
}
