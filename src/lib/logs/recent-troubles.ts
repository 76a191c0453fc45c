/**
 * The last warnings and errors of the log, for who cannot read the log itself: those with the same words once, with their
 * number. Of the fields of a line only those that name settings and things are kept, and no content of files.
 */
import type { DestinationStream } from "pino";

/** Warnings and errors of the log with the same words. */
export interface RecentTrouble {
  readonly level: string;
  readonly message: string;
  readonly count: number;
  /** Milliseconds UTC. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** What the last one was about, as `name: value`: names of settings and things, never content. */
  readonly about: string;
}

const mostKept = 50;
const longest = 300;
const shownNames = ["company", "target", "remote", "endpoint", "route", "kind", "systemCode", "settings"];
const levels = ["warn", "error", "fatal"];

interface Line extends Readonly<Record<string, unknown>> {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function aboutOf(line: Line): string {
  const shown = shownNames.filter((name) => line[name] !== undefined);
  return shown
    .map((name) => `${name}: ${textOf(line[name])}`)
    .join(", ")
    .slice(0, longest);
}

export class RecentTroubles {
  /** By level and words, the one that was told last at the end. */
  readonly #kept = new Map<string, RecentTrouble>();

  /** The newest first. */
  get all(): readonly RecentTrouble[] {
    return [...this.#kept.values()].toReversed();
  }

  /** A destination of a log that keeps its troubles on the way. */
  listenTo(destination: DestinationStream): DestinationStream {
    const { flushSync } = destination as { flushSync?(): void };
    return {
      write: (text: string) => {
        if (levels.some((level) => text.startsWith(`{"level":"${level}"`)))
          this.#note(JSON.parse(text) as Line);
        destination.write(text);
      },
      ...(flushSync === undefined ? {} : { flushSync: () => flushSync.call(destination) }),
    };
  }

  #note(line: Line): void {
    const { level, time, msg = "" } = line;
    const message = msg.slice(0, longest);
    const key = `${level} ${message}`;
    const before = this.#kept.get(key);
    const lastAt = Date.parse(time);
    this.#kept.delete(key);
    this.#kept.set(key, {
      ...{ level, message, lastAt, about: aboutOf(line) },
      count: (before?.count ?? 0) + 1,
      firstAt: before?.firstAt ?? lastAt,
    });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
  }
}
