/**
 * Log lines on their way to standard output: the first one after a pause at once, those that follow within some
 * milliseconds together. Each write is a hop to another thread and back, which under load costs more than the line.
 */
import { type DestinationStream, pino } from "pino";

const gatherMs = 20;
const maxGathered = 64 * 1024;

/** Where lines are written to: `write` takes whole lines, `flushSync` returns when all of them are out. */
export interface LineSink {
  write(text: string): unknown;
  flushSync(): void;
}

export interface GatheredLines extends DestinationStream {
  write(line: string): void;
  /** Writes out all pending lines: called by pino after a fatal line, and at the end of the process. */
  flushSync(): void;
}

export function gatherLines(sink: LineSink): GatheredLines {
  let gathered = "";
  let timer: NodeJS.Timeout | undefined;
  const handOver = (): void => {
    const text = gathered;
    gathered = "";
    if (text !== "") sink.write(text);
  };
  const beginPause = (): void => {
    timer = setTimeout(() => {
      timer = undefined;
      if (gathered === "") return;
      handOver();
      beginPause();
    }, gatherMs);
    // Pending lines are written at the end of the process, which this timer must not delay.
    timer.unref();
  };
  return {
    write(line) {
      gathered += line;
      if (timer !== undefined && gathered.length < maxGathered) return;
      handOver();
      if (timer === undefined) beginPause();
    },
    flushSync() {
      handOver();
      sink.flushSync();
    },
  };
}

/** Standard output, written in the background. A reader that goes away ends the log, not the process. */
export function standardOutput(): GatheredLines {
  const lines = gatherLines(pino.destination({ fd: 1, sync: false }));
  process.once("exit", () => lines.flushSync());
  return lines;
}
