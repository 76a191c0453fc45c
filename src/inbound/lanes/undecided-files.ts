/** The files of one company that are not decided: in line, or put aside with those that wait for them, why and since when. */
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import type { Clock } from "../../lib/clock.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { DecisionOutcome } from "./decide-group.ts";
import { type HeldFiles, heldFilesOf, type HeldInDetail, heldInDetailOf } from "./held-files.ts";
import { Lane } from "./lane.ts";
import { type PutAsideSettings, type PutAside, putAside } from "./put-aside.ts";
import { StalledFiles } from "./stalled-files.ts";
import { stopKeysOf } from "./stop-keys.ts";
import { toWaitingFile, type WaitingFile } from "./waiting-file.ts";

export interface UndecidedDependencies {
  readonly company: { readonly id: number; readonly code: string };
  readonly settings: () => PutAsideSettings;
  readonly clock: Clock;
  readonly failing: LimitedLog;
  /** Reads a file again that was put aside. */
  readonly lookAgain: (file: WaitingFile) => void;
}

/** Beyond it the store is taken to be at fault for all files, and none of them is put aside any more. */
const maxHeldByStore = 1_000;

export class UndecidedFiles {
  readonly lane = new Lane<WaitingFile>();
  readonly stalled: StalledFiles;
  readonly #deps: UndecidedDependencies;
  /** Files with a fault that is not over: those that are parked, and those in line again after a fault of the store. */
  readonly #faulty = new Set<WaitingFile>();
  /** Why nothing at all can be decided, since when. */
  #halt: { readonly message: string; readonly since: number } | undefined;

  constructor(deps: UndecidedDependencies) {
    this.#deps = deps;
    // What was put aside stays parked while it is read: it keeps back others until it can go on.
    this.stalled = new StalledFiles(deps.lookAgain);
  }

  get size(): number {
    return this.lane.size + this.stalled.size;
  }

  /** What does not go on, and why. */
  held(): HeldFiles {
    return heldFilesOf(this.#deps.company.code, this.#heldState());
  }

  /** The same, file by file. */
  heldInDetail(): HeldInDetail {
    return heldInDetailOf(this.held(), this.#heldState(), this.stalled.keptBack());
  }

  #heldState() {
    const halt = this.#halt === undefined ? undefined : { ...this.#halt, files: this.lane.size };
    const { giveUpAfterMs } = this.#deps.settings();
    return { files: this.#faulty, keptBack: this.stalled.keptBackCount, halt, giveUpAfterMs };
  }

  /** Files of its stop that go after a file of this name wait until the returned call is made. */
  keepBack(name: string): () => void {
    const { company, clock } = this.#deps;
    const file = toWaitingFile({
      ...{ companyId: company.id, name, path: name, channel: "folder", userName: null },
      ...{ receivedAt: clock.now(), size: 0, sequence: 0 },
    });
    // Another file of the name is a new attempt, which does not wait for the interrupted one.
    file.key = { stopFunction: "~", stopNbr: "" };
    this.stalled.park(file, { stopKeys: stopKeysOf(name) });
    return () => {
      for (const follower of this.stalled.release(file)) this.lane.add(follower);
    };
  }

  /** Whether the document is kept for its turn; else the file waits outside of the line. */
  takes(file: WaitingFile, prepared: PreparedDocument): boolean {
    const { settings, clock } = this.#deps;
    const stalledForMs = file.stall === undefined ? 0 : performance.now() - file.stall.since;
    const aside = putAside(file, prepared, { settings: settings(), now: clock.now(), stalledForMs });
    if (aside !== undefined) {
      this.putAside(file, prepared, aside);
      return false;
    }
    if (this.stalled.has(file)) this.#backInLine(file);
    const stopKeys = stopKeysOf(file.name, prepared);
    if (stopKeys.length > 1) file.stopKeys = stopKeys;
    return true;
  }

  /** The file waits outside of the line, and keeps back the later ones of its stops. */
  putAside(file: WaitingFile, prepared: PreparedDocument, aside: PutAside): void {
    const isNew = this.#noteFault(file, aside);
    // Where it stands within its second is known when it has been read.
    if (prepared.kind !== "read") file.key = undefined;
    if (!this.stalled.has(file)) this.lane.remove(file);
    // A document that was read once may have named more stops than can be seen of it now.
    const stopKeys = [...stopKeysOf(file.name, prepared), ...(file.stopKeys ?? [])];
    this.stalled.park(file, { stopKeys, pauseMs: aside.pauseMs });
    if (!isNew) return;
    const fields = { company: this.#deps.company.code, file: file.name, fileId: file.id, ...aside };
    this.#deps.failing.warn(fields, "the file cannot be taken now; it and the later files of its stop wait");
  }

  /** Whether what holds one file holds all: then none of them is put aside. */
  isOfAll({ isGeneral, reason }: DecisionOutcome & { readonly kind: "held" }): boolean {
    return isGeneral || (reason === "store" && this.stalled.size >= maxHeldByStore);
  }

  /** Back in line, where all wait until anything can be decided about. */
  haltFor(file: WaitingFile, message: string): void {
    this.lane.add(file);
    if (this.#halt !== undefined) return;
    this.#halt = { message, since: performance.now() };
    this.#deps.failing.warn(
      { company: this.#deps.company.code, message },
      "no file can be decided about; all wait",
    );
  }

  /** Something was decided. */
  goOn(): void {
    this.#halt = undefined;
  }

  /** The file's fault is over. */
  over(file: WaitingFile): void {
    file.stall = undefined;
    this.#faulty.delete(file);
  }

  /** Whether the fault is another one than before. */
  #noteFault(file: WaitingFile, { reason, message }: PutAside): boolean {
    const before = file.stall?.reason === reason ? file.stall : undefined;
    file.stall = { reason, message, since: before?.since ?? performance.now() };
    file.looks = (file.looks ?? 0) + 1;
    this.#faulty.add(file);
    return before === undefined;
  }

  /** With those that waited for it: the line puts them in their order. */
  #backInLine(file: WaitingFile): void {
    for (const one of [...this.stalled.release(file), file]) this.lane.add(one);
    // That it can be read says nothing about the store.
    if (file.stall?.reason !== "store" && file.stall?.reason !== "internal") this.over(file);
  }
}
