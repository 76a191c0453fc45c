/** Watches from outside whether a process keeps to its time and its memory: one that is stuck cannot tell. */
import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";

const checkEachMs = 50;

/** Resident memory of a process in MB; 0 when it has gone. */
async function memoryMbOf(pid: number): Promise<number> {
  try {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0; // It ended meanwhile; the process itself reports its end.
  }
}

export class ProcessWatch {
  readonly #child: Pick<ChildProcess, "pid">;
  readonly #maxMemoryMb: number;
  #timer: NodeJS.Timeout | undefined;
  #check: NodeJS.Timeout | undefined;

  constructor(child: Pick<ChildProcess, "pid">, maxMemoryMb: number) {
    this.#child = child;
    this.#maxMemoryMb = maxMemoryMb;
  }

  /** It has so much time until the next `rest`. */
  time(withinMs: number, exceeded: () => void): void {
    this.#timer = setTimeout(exceeded, withinMs);
  }

  /** Its memory is checked until the next `rest`. */
  memory(exceeded: () => void): void {
    this.#check = setInterval(() => void this.#checkMemory(exceeded), checkEachMs);
  }

  /** It has nothing to do. */
  rest(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#check);
    this.#timer = undefined;
    this.#check = undefined;
  }

  async #checkMemory(exceeded: () => void): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined || (await memoryMbOf(pid)) <= this.#maxMemoryMb) return;
    // It may have answered meanwhile.
    if (this.#check !== undefined) exceeded();
  }
}
