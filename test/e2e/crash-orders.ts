/**
 * What a host sends in one round of the crash test, and what must have become of it in the end.
 *
 * A chain is all that concerns one stop. Its steps go one after the other, each when the one before was answered, so the
 * outcome is certain however often the process dies: a step that was not answered is sent again.
 */
import { fileName, type StopFunction, stopElement, stopsDocument } from "../support/stop-files.ts";

export type Route =
  | "put"
  /** As `<name>.filepart`, renamed to another unfinished name and then to the final one. */
  | "rename"
  /** Half of it over a link that breaks, then the whole. */
  | "breakAndPut"
  /** Half of it over a link that breaks, then the whole from its beginning without asking for an empty file. */
  | "breakAndRestart"
  /** An unfinished file that the host takes back; then the whole. */
  | "removeAndPut"
  /** Into the company's own `inbound/` by a local program. */
  | "inbound"
  /** Into a further folder on the same file system. */
  | "folder"
  /** Into a further folder on another file system. */
  | "otherDisk"
  /** Not sent: an administrator has the file of this name tried again. */
  | "retry";

export interface Outcome {
  readonly state: "applied" | "refused" | "superseded";
  readonly codes?: readonly string[];
}

export interface Step {
  readonly name: string;
  readonly content: string;
  readonly route: Route;
  readonly outcome: Outcome;
  /** The host waits for the receipt of what it sent before. */
  readonly afterReceipt?: boolean;
}

export interface FinalStop {
  readonly stopNbr: string;
  readonly status: "10" | "99";
  /** Stands in the stop as it was sent last. */
  readonly mark: string;
  readonly updatedEvents: number;
  readonly cancelledEvents: number;
}

export interface Chain {
  readonly steps: readonly Step[];
  readonly stops: readonly FinalStop[];
}

const applied: Outcome = { state: "applied" };
const refusedWith = (...codes: readonly string[]): Outcome => ({ state: "refused", codes });

/** One that was found by a scan is looked at again for a while; meanwhile the good one of its name may be applied. */
const ofTorn = ["notWellFormed", "nameReused"] as const;

function documentOf(stopNbr: string, mark: string, stopFunction: StopFunction = "01"): string {
  return `<Stops>${stopElement(stopNbr, "", stopFunction).replace("Corner Shop", mark)}</Stops>`;
}

function deletionOf(stopNbr: string): string {
  return `<Stop><Function>02</Function><StopNbr>${stopNbr}</StopNbr></Stop>`;
}

function timeOf(index: number): string {
  return `08${String(index).padStart(2, "0")}00`;
}

function stepOf(stopNbr: string, index: number, more: Partial<Step> & { readonly mark?: string } = {}): Step {
  const { mark = `v${index}`, ...rest } = more;
  const name = fileName(stopNbr, timeOf(index));
  return { name, content: documentOf(stopNbr, mark), route: "put", outcome: applied, ...rest };
}

function stopOf(stopNbr: string, mark: string, updatedEvents: number): FinalStop {
  return { stopNbr, status: "10", mark, updatedEvents, cancelledEvents: 0 };
}

function updated(stopNbr: string, route: Route, options: { readonly waits?: boolean } = {}): Chain {
  const afterReceipt = options.waits ?? false;
  const steps = [
    stepOf(stopNbr, 1, { route }),
    stepOf(stopNbr, 2, { route, afterReceipt }),
    stepOf(stopNbr, 3, { afterReceipt }),
  ];
  return { steps, stops: [stopOf(stopNbr, "v3", 2)] };
}

function deleted(stopNbr: string): Chain {
  const deletion = stepOf(stopNbr, 3, { content: deletionOf(stopNbr) });
  const stop: FinalStop = { stopNbr, status: "99", mark: "v2", updatedEvents: 1, cancelledEvents: 1 };
  return { steps: [stepOf(stopNbr, 1), stepOf(stopNbr, 2), deletion], stops: [stop] };
}

/** Created and deleted at once: in the other order the stop would be left. */
export function deletedAtOnceChain(stopNbr: string): Chain {
  const deletion = stepOf(stopNbr, 2, { content: deletionOf(stopNbr) });
  const stop: FinalStop = { stopNbr, status: "99", mark: "v1", updatedEvents: 0, cancelledEvents: 1 };
  return { steps: [stepOf(stopNbr, 1), deletion], stops: [stop] };
}

function sentTwice(stopNbr: string): Chain {
  return {
    steps: [stepOf(stopNbr, 1), stepOf(stopNbr, 1), stepOf(stopNbr, 2), stepOf(stopNbr, 1)],
    stops: [stopOf(stopNbr, "v2", 1)],
  };
}

/** A second content under a name that was applied. */
export function nameReusedChain(stopNbr: string): Chain {
  const other = stepOf(stopNbr, 1, { mark: "other", outcome: refusedWith("nameReused") });
  return { steps: [stepOf(stopNbr, 1), other], stops: [stopOf(stopNbr, "v1", 0)] };
}

function corrected(stopNbr: string): Chain {
  const broken = stepOf(stopNbr, 1, { content: "<Stops><Stop>", outcome: refusedWith(...ofTorn) });
  return { steps: [broken, stepOf(stopNbr, 1)], stops: [stopOf(stopNbr, "v1", 0)] };
}

function late(stopNbr: string): Chain {
  const before = stepOf(stopNbr, 1, {
    afterReceipt: true,
    outcome: { state: "superseded", codes: ["superseded"] },
  });
  return { steps: [stepOf(stopNbr, 2), before], stops: [stopOf(stopNbr, "v2", 0)] };
}

function faulty(stopNbr: string): Chain {
  const badName = stepOf(stopNbr, 1, { name: `${stopNbr} bad.xml`, outcome: refusedWith("badFileName") });
  const unknown = stepOf(stopNbr, 2, {
    content: deletionOf(stopNbr),
    outcome: refusedWith("stopNotFound"),
  });
  const element = stepOf(stopNbr, 3, {
    content: `<Stops><Stop><Function>01</Function><Nonsense/></Stop></Stops>`,
    outcome: { state: "refused" },
  });
  return { steps: [badName, unknown, element], stops: [] };
}

/** A local program breaks off; the host sends the file of the same name while that one still waits. */
function nameTaken(stopNbr: string): Chain {
  const torn = stepOf(stopNbr, 1, {
    content: documentOf(stopNbr, "torn").slice(0, -20),
    route: "inbound",
    outcome: refusedWith(...ofTorn),
  });
  return { steps: [torn, stepOf(stopNbr, 1)], stops: [stopOf(stopNbr, "v1", 0)] };
}

/** One document with several stops, long enough for several writes. */
function several(stopNbr: string): Chain {
  const numbers = [stopNbr, `${stopNbr}b`, `${stopNbr}c`];
  const elements = numbers.map((number) => stopElement(number).replace("Corner Shop", "v1"));
  const content = stopsDocument([...elements, `<!--${"x".repeat(400_000)}-->`]);
  return {
    steps: [stepOf(stopNbr, 1, { content })],
    stops: numbers.map((number) => stopOf(number, "v1", 0)),
  };
}

/** A single file. */
export function plainChain(stopNbr: string): Chain {
  return { steps: [stepOf(stopNbr, 1)], stops: [stopOf(stopNbr, "v1", 0)] };
}

/** Deleted before it was created; then the administrator has the deletion tried again. */
export function retriedChain(stopNbr: string): Chain {
  const deletion = stepOf(stopNbr, 2, { content: deletionOf(stopNbr) });
  const retry: Step = { ...deletion, route: "retry", afterReceipt: true };
  const stop: FinalStop = { stopNbr, status: "99", mark: "v1", updatedEvents: 0, cancelledEvents: 1 };
  return { steps: [deletion, stepOf(stopNbr, 1, { afterReceipt: true }), retry], stops: [stop] };
}

/** All chains of a round; `prefix` makes their names its own. */
export function chainsOf(prefix: string, options: { readonly hasOtherDisk: boolean }): Chain[] {
  let count = 0;
  const next = () => {
    count += 1;
    return `${prefix}-${count}`;
  };
  return [
    updated(next(), "put"),
    updated(next(), "rename"),
    updated(next(), "breakAndPut"),
    updated(next(), "breakAndRestart"),
    updated(next(), "removeAndPut"),
    updated(next(), "inbound", { waits: true }),
    updated(next(), "folder", { waits: true }),
    ...(options.hasOtherDisk ? [updated(next(), "otherDisk", { waits: true })] : []),
    deleted(next()),
    deletedAtOnceChain(next()),
    deletedAtOnceChain(next()),
    sentTwice(next()),
    nameReusedChain(next()),
    corrected(next()),
    late(next()),
    faulty(next()),
    nameTaken(next()),
    several(next()),
  ];
}
