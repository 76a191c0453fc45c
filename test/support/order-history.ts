/**
 * One company's files through the real pipeline while faults are injected, and whether the order of each stop has held.
 *
 * The files of a history are drawn from a seed: some stops, some seconds, all Functions, documents of several stops, ways
 * in, pauses between arrivals. So are the faults: at reads (once, some times, for ever; as a value or thrown), at decisions
 * and commits (of the store, of our own), files that are written by halves, documents that are refused.
 *
 * The rule: of two files of a stop the earlier one by (time in the name, Function, stop number, arrival) is decided first,
 * if it had arrived before the later one was taken. And in the end each is decided with a receipt, or the company says that
 * this installation is at fault.
 */
import { writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { StoreError } from "../../src/lib/store-error.ts";
import { type FaultyPipeline, type ReadFault, stopXml, unreadable } from "./faulty-pipeline.ts";
import { randomOf } from "./random-numbers.ts";

interface PlannedFile {
  readonly name: string;
  readonly nameStop: string;
  readonly time: number;
  readonly stopFunction: string;
  readonly stops: readonly string[];
  readonly content: string;
  readonly isValid: boolean;
  /** What is written first, and completed later; never when it is not completed. */
  readonly half: "none" | "completed" | "for ever";
  readonly channel: "sftp" | "ftp" | "folder" | "remote:partner";
  readonly pauseBeforeMs: number;
  readFaults: number;
  readonly readFault: ReadFault | undefined;
  decideFaults: number;
  readonly decideFault: Error | undefined;
  // What is seen of it.
  arrivedAt: number;
  begunAt: number | undefined;
  decidedAt: number | undefined;
  state: string | undefined;
  firstReadAt: number | undefined;
  failedReads: number;
}

type Draw = <T>(from: readonly [T, ...T[]]) => T;

const forEver = Number.MAX_SAFE_INTEGER;
/** Looks at once, before a file is put aside: until then the stops in its document need not be known. */
const looksBeforeParked = 4;

function drawReadFault(draw: Draw): Pick<PlannedFile, "readFaults" | "readFault"> {
  const kind = draw(["none", "none", "none", "once", "some", "for ever"] as const);
  if (kind === "none") return { readFaults: 0, readFault: undefined };
  const code = draw(["EMFILE", "EIO", "EACCES", "ENOENT", "throw"] as const);
  const readFault = code === "throw" ? new Error("the parser fell over") : unreadable(code);
  const times = kind === "once" ? 1 : kind === "some" ? draw([3, 4, 5, 6, 8]) : forEver;
  return { readFaults: times, readFault };
}

function drawDecideFault(draw: Draw): Pick<PlannedFile, "decideFaults" | "decideFault"> {
  const kind = draw(["none", "none", "none", "damaged", "unavailable", "unfit", "busy", "bug"] as const);
  if (kind === "none") return { decideFaults: 0, decideFault: undefined };
  if (kind === "bug") return { decideFaults: draw([1, 2, 3, forEver]), decideFault: new Error("a bug") };
  return {
    decideFaults: draw([1, 2, 3, 5]),
    decideFault: new StoreError(kind, "as the test wants it", undefined),
  };
}

function drawFile(draw: Draw, used: Set<string>): PlannedFile | undefined {
  const nameStop = draw(["a", "b", "c"]);
  const time = draw([1, 2, 3, 4, 5, 6]);
  const name = `${nameStop}_20261105_0${time}0000.xml`;
  if (used.has(name)) return undefined;
  used.add(name);
  const others = draw([[], [], [], ["a"], ["b", "c"], ["d"]] as [string[], ...string[][]]);
  const stops = [nameStop, ...others.filter((other) => other !== nameStop)];
  const stopFunction = draw(["01", "01", "01", "02"]);
  const isValid = draw([true, true, true, true, true, true, false]);
  const half = draw(["none", "none", "none", "none", "completed", "for ever"] as const);
  const channel = half === "none" ? draw(["sftp", "ftp", "folder", "remote:partner"] as const) : "folder";
  return {
    ...{ name, nameStop, time, stopFunction, stops, isValid, half, channel },
    content: isValid ? stopXml(stops, `at ${time}`, stopFunction) : "<Stop><Nothing/></Stop>",
    pauseBeforeMs: draw([0, 0, 0, 1, 3, 10, 30]),
    ...drawReadFault(draw),
    ...drawDecideFault(draw),
    ...{ arrivedAt: 0, begunAt: undefined, decidedAt: undefined, state: undefined },
    ...{ firstReadAt: undefined, failedReads: 0 },
  };
}

function goesBefore(f: PlannedFile, g: PlannedFile): boolean {
  if (f.time !== g.time) return f.time < g.time;
  if (f.stopFunction !== g.stopFunction) return f.stopFunction < g.stopFunction;
  return f.nameStop < g.nameStop;
}

/** The stops of a file as they could be known at that moment. */
function knownStops(file: PlannedFile, at: number): readonly string[] {
  const wasRead = file.firstReadAt !== undefined && file.firstReadAt < at;
  const isUnknown = !wasRead && (file.failedReads >= looksBeforeParked || file.half !== "none");
  return isUnknown ? [file.nameStop] : file.stops;
}

/** What became of a history; `faults` is empty when all is right. */
export interface HistoryOutcome {
  readonly files: number;
  readonly parkedOrRefused: number;
  readonly faults: readonly string[];
}

export class OrderHistory {
  readonly code: string;
  readonly #rig: FaultyPipeline;
  readonly #files = new Map<string, PlannedFile>();
  readonly #order: readonly PlannedFile[];
  readonly #tick: () => number;
  #companyId = 0;

  constructor(rig: FaultyPipeline, options: { code: string; seed: number; tick: () => number }) {
    this.#rig = rig;
    this.code = options.code;
    this.#tick = options.tick;
    const random = randomOf(options.seed);
    const draw: Draw = (from) => from[Math.floor(random() * from.length)] ?? from[0];
    const used = new Set<string>();
    const count = 4 + Math.floor(random() * 9);
    this.#order = Array.from({ length: count }, () => drawFile(draw, used)).filter(
      (file) => file !== undefined,
    );
    for (const file of this.#order) this.#files.set(file.name, file);
  }

  read(name: string): ReadFault | undefined {
    const file = this.#files.get(name);
    if (file === undefined || file.readFaults <= 0) return undefined;
    file.readFaults -= 1;
    return file.readFault;
  }

  decide(name: string): Error | undefined {
    const file = this.#files.get(name);
    if (file === undefined || file.decideFaults <= 0) return undefined;
    file.decideFaults -= 1;
    return file.decideFault;
  }

  looked(name: string, isRead: boolean): void {
    const file = this.#files.get(name);
    if (file === undefined) return;
    // What is read again has been put back; it is taken anew.
    file.begunAt = undefined;
    if (isRead) file.firstReadAt ??= this.#tick();
    else if (file.firstReadAt === undefined) file.failedReads += 1;
  }

  attempted(name: string, begunAt: number): void {
    const file = this.#files.get(name);
    if (file !== undefined) file.begunAt ??= begunAt;
  }

  decided(name: string, state: string): void {
    const file = this.#files.get(name);
    if (file === undefined) return;
    file.decidedAt = this.#tick();
    file.state = state;
  }

  /** Sends its files one after the other. `gate` is waited for before each: nothing arrives while the pipeline is away. */
  async send(gate: () => Promise<void>): Promise<void> {
    this.#companyId = await this.#rig.addCompany(this.code);
    for (const file of this.#order) {
      if (file.pauseBeforeMs > 0) await wait(file.pauseBeforeMs);
      await gate();
      const cut = file.half === "none" ? file.content : file.content.slice(0, file.content.length / 2);
      const arrival = this.#rig.arrival(this.#companyId, file.name, cut, file.channel);
      file.arrivedAt = this.#tick();
      void this.#rig.pipeline.arriveAll([arrival]);
      if (file.half === "completed")
        setTimeout(() => this.#complete(file, arrival.path), 5 + file.pauseBeforeMs);
    }
  }

  /** Whether all of it is decided and filed. */
  get isOver(): boolean {
    return this.#rig.pipeline.waitingCount(this.#companyId) === 0;
  }

  /** Faults of this installation end; those of files go on, and end in a refusal. */
  heal(): void {
    for (const file of this.#order) {
      const isOfFile = file.readFault instanceof Error || !isOwn(file.readFault);
      if (!isOfFile) file.readFaults = 0;
      file.decideFaults = 0;
    }
  }

  /** Whether it says that this installation is at fault, while a file is held for that. */
  get saysOwnFault(): boolean {
    return this.#rig.pipeline.held().some(({ company, isOwnFault }) => company === this.code && isOwnFault);
  }

  async outcome(): Promise<HistoryOutcome> {
    const faults = [...this.#orderFaults(), ...this.#receiptFaults()];
    const rows = await this.#rig.ledger(this.#companyId);
    if (rows.length !== this.#order.length)
      faults.push(`${rows.length} entries for ${this.#order.length} files`);
    const parkedOrRefused = this.#order.filter(
      ({ state, failedReads }) => state !== "applied" || failedReads >= looksBeforeParked,
    ).length;
    return { files: this.#order.length, parkedOrRefused, faults };
  }

  #complete(file: PlannedFile, path: string): void {
    if (file.decidedAt === undefined) writeFileSync(path, file.content);
  }

  #orderFaults(): string[] {
    const faults: string[] = [];
    for (const later of this.#order.filter(({ state }) => state === "applied")) {
      for (const earlier of this.#order) {
        const { begunAt = 0, decidedAt = 0 } = later;
        const shares = knownStops(earlier, begunAt).some((stop) => later.stops.includes(stop));
        if (!earlier.isValid || earlier === later || !shares || !goesBefore(earlier, later)) continue;
        const wasThere = earlier.arrivedAt < begunAt;
        const cameAfter = earlier.decidedAt === undefined || earlier.decidedAt > decidedAt;
        if (wasThere && cameAfter)
          faults.push(
            `${later.name} was applied before ${earlier.name} (${earlier.state}), which had arrived`,
          );
      }
    }
    return faults;
  }

  #receiptFaults(): string[] {
    return this.#order.flatMap(({ name, state }) => {
      if (state === undefined) return [`${name} is not decided`];
      try {
        return this.#rig.receiptOf(this.#companyId, name).includes("<StopResponse")
          ? []
          : [`${name}: no receipt`];
      } catch {
        return [`${name} is ${state} and has no receipt`];
      }
    });
  }
}

function isOwn(fault: ReadFault | undefined): boolean {
  return fault !== undefined && !(fault instanceof Error) && fault.systemCode === "EMFILE";
}
