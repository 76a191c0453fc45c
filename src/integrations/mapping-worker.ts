/**
 * A mapping process: takes one job at a time and answers it. It is a process and no thread because V8 ends the whole process
 * when one allocation of a thread goes beyond the thread's memory, and expressions can make any (`$pad`, `$map` over ranges).
 */
import { stepBack } from "../lib/threads/background-thread.ts";
import { capWasmMemory, wasmMemoryBytes } from "../documents/pool/wasm-memory-cap.ts";
import { memoryExitCode } from "../lib/threads/hosted-worker.ts";
import { mapBody } from "./map-body.ts";
import type { JobMessage, ProcessReport } from "./mapping-process.ts";

/** Beyond these the process is replaced, so that what one body has left does not count against the next. */
const wornOut = { parserBytes: 48 * 1024 * 1024, allBytes: 512 * 1024 * 1024 } as const;

function isWornOut(): boolean {
  return wasmMemoryBytes() > wornOut.parserBytes || process.memoryUsage.rss() > wornOut.allBytes;
}

function send(report: ProcessReport): void {
  process.send?.(report);
}

async function work({ job }: JobMessage): Promise<void> {
  const outcome = await mapBody(job);
  send({ kind: "done", outcome, isWornOut: isWornOut() });
}

function serve(): void {
  stepBack();
  let isCapped = false;
  process.on("message", (message: JobMessage) => {
    if (!isCapped) capWasmMemory(message.maxParserBytes, () => process.exit(memoryExitCode));
    isCapped = true;
    // A rejection is a fault of this program; unhandled it ends the process.
    void work(message);
  });
  // Signals to the group of a terminal are the daemon's to answer; when it goes, the channel closes and this ends.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => undefined);
  process.on("disconnect", () => process.exit(0));
  send({ kind: "ready" });
}

if (process.send !== undefined) serve();
