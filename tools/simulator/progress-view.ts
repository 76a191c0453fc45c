/** How far a simulation is: one line that is drawn anew on a terminal, else a line every few seconds. */
import type { DayProgress } from "./play-day.ts";
import type { SimulationOutput } from "../../src/cli/simulation.ts";

const barLength = 24;
const drawnEveryMs = 100;
const printedEveryMs = 5_000;
/** Returns to the start of the line and clears it. */
const newLine = "\r\x1b[2K";

const phases = { import: "importing", play: "playing", verify: "verifying" } as const;

export interface ProgressView {
  show(progress: DayProgress): void;
  /** Leaves the line free for what is printed next. */
  end(): void;
}

/** What is shown after so many milliseconds. */
export function progressText(progress: DayProgress, tookMs: number): string {
  const { phase, requests, plannedRequests, loadsDone, loads } = progress;
  const share = Math.min(1, requests / Math.max(1, plannedRequests));
  const filled = Math.round(share * barLength);
  const bar = `[${"#".repeat(filled)}${".".repeat(barLength - filled)}]`;
  const rate = tookMs > 0 ? Math.round((requests * 1_000) / tookMs) : 0;
  return `${bar} ${phases[phase]}: ${loadsDone} of ${loads} loads, ${requests} requests, ${rate}/s`;
}

export function createProgressView(output: SimulationOutput): ProgressView {
  const isTerminal = output.isTTY === true;
  const everyMs = isTerminal ? drawnEveryMs : printedEveryMs;
  const startedAt = performance.now();
  let nextAt = startedAt + everyMs;
  let isDrawn = false;
  return {
    show(progress) {
      const now = performance.now();
      if (now < nextAt) return;
      nextAt = now + everyMs;
      isDrawn = true;
      const text = progressText(progress, now - startedAt);
      output.write(isTerminal ? `${newLine}${text}` : `${text}\n`);
    },
    end() {
      if (isTerminal && isDrawn) output.write(newLine);
    },
  };
}
