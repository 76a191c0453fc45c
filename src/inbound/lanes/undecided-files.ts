/** The files of one company that are not decided about: in line, or put aside with those that wait for them. */
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import type { Clock } from "../../lib/clock.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { DecisionOutcome } from "./decide-group.ts";
import type { HeldFiles, HeldInDetail } from "./held-files.ts";
import { Lane } from "./lane.ts";
import { LaneTroubles } from "./lane-troubles.ts";
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
  readonly troubles: LaneTroubles;
  readonly #deps: UndecidedDependencies;

  constructor(deps: UndecidedDependencies) {
    this.#deps = deps;
    // What has been put aside is read where it is: it keeps back others until it can go on.
    this.stalled = new StalledFiles(deps.lookAgain);
    this.troubles = new LaneTroubles(deps.company.code, this.stalled);
  }

  get size(): number {
    return this.lane.size + this.stalled.size;
  }

  /** What does not go on, and why. */
  held(): HeldFiles {
    return this.troubles.held(this.lane.size, this.#deps.settings().giveUpAfterMs);
  }

  /** The same, file by file. */
  heldInDetail(): HeldInDetail {
    return this.troubles.heldInDetail(this.lane.size, this.#deps.settings().giveUpAfterMs);
  }

  /** Files of its stop that go after a file of this name wait until the returned call is made. */
  keepBack(name: string): () => void {
    const source = {
      companyId: this.#deps.company.id,
      name,
      path: name,
      channel: "folder",
      userName: null,
    } as const;
    const file = toWaitingFile({ ...source, receivedAt: this.#deps.clock.now(), size: 0, sequence: 0 });
    // Another file of the name is a new attempt, which does not wait for the one that broke off.
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
    const isNew = this.troubles.note(file, aside);
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
    if (!this.troubles.halt(message)) return;
    this.#deps.failing.warn(
      { company: this.#deps.company.code, message },
      "no file can be decided about; all wait",
    );
  }

  /** With those that waited for it: the line puts them in their order. */
  #backInLine(file: WaitingFile): void {
    for (const one of [...this.stalled.release(file), file]) this.lane.add(one);
    this.troubles.readable(file);
  }
}
