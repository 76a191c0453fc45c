/** What keeps the files of one company from being decided about, and since when. */
import { type HeldFiles, heldFilesOf, type HeldInDetail, heldInDetailOf } from "./held-files.ts";
import type { PutAside } from "./put-aside.ts";
import type { StalledFiles } from "./stalled-files.ts";
import type { WaitingFile } from "./waiting-file.ts";

export class LaneTroubles {
  readonly #companyCode: string;
  readonly #stalled: StalledFiles;
  /** Files with a fault that is not over: those that are parked, and those in line again after a fault of the store. */
  readonly #faulty = new Set<WaitingFile>();
  /** Why nothing at all can be decided, since when. */
  #halt: { readonly message: string; readonly since: number } | undefined;

  constructor(companyCode: string, stalled: StalledFiles) {
    this.#companyCode = companyCode;
    this.#stalled = stalled;
  }

  /** Notes a file's fault; whether it is another one than before. */
  note(file: WaitingFile, { reason, message }: Pick<PutAside, "reason" | "message">): boolean {
    const before = file.stall?.reason === reason ? file.stall : undefined;
    file.stall = { reason, message, since: before?.since ?? performance.now() };
    file.looks = (file.looks ?? 0) + 1;
    this.#faulty.add(file);
    return before === undefined;
  }

  /** The file's fault is over. */
  over(file: WaitingFile): void {
    file.stall = undefined;
    this.#faulty.delete(file);
  }

  /** The file can be read, which says nothing about the store. */
  readable(file: WaitingFile): void {
    if (file.stall?.reason !== "store" && file.stall?.reason !== "internal") this.over(file);
  }

  /** Nothing at all can be decided; whether this is news. */
  halt(message: string): boolean {
    if (this.#halt !== undefined) return false;
    this.#halt = { message, since: performance.now() };
    return true;
  }

  /** Something was decided. */
  goOn(): void {
    this.#halt = undefined;
  }

  /** What does not go on, and why; `inLine` files wait for their turn. */
  held(inLine: number, giveUpAfterMs: number): HeldFiles {
    return heldFilesOf(this.#companyCode, this.#state(inLine, giveUpAfterMs));
  }

  /** The same, file by file. */
  heldInDetail(inLine: number, giveUpAfterMs: number): HeldInDetail {
    const held = this.held(inLine, giveUpAfterMs);
    return heldInDetailOf(held, this.#state(inLine, giveUpAfterMs), this.#stalled.keptBack());
  }

  #state(inLine: number, giveUpAfterMs: number) {
    const halt = this.#halt === undefined ? undefined : { ...this.#halt, files: inLine };
    return { files: this.#faulty, keptBack: this.#stalled.keptBackCount, halt, giveUpAfterMs };
  }
}
