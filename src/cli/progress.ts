import type { CliOutput } from "./command-line.ts";

const progressEveryMs = 200;

/** A line on a terminal that says how far a command is. */
export interface Progress {
  /** Writes the text over the one before, if it is time for it. */
  show(text: () => string): void;
  /** Removes the line. */
  end(): void;
}

/** Nothing when the output is no terminal. */
export function progressOn(output: CliOutput): Progress {
  let shownAt = 0;
  return {
    show(text) {
      const now = performance.now();
      if (output.isTTY !== true || now - shownAt < progressEveryMs) return;
      shownAt = now;
      output.write(`\r${text()}\u001b[K`);
    },
    end() {
      if (shownAt > 0) output.write("\r\u001b[K");
    },
  };
}
