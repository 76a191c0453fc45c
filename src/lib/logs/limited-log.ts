/**
 * Log lines that outsiders can cause as often as they like: refused connections, failed sign-ins.
 *
 * The first `maxLines` of a kind within `windowMs` are written as they are. Further ones are counted, and summarised in
 * one line at the end of the window: how many there were, and which addresses, users and reasons were the most
 * frequent. A kind is a level and a message, and the group where one is given. So a flood costs two lines a second at
 * most, and what a single client does is still logged in full.
 */
import type { Logger } from "./log.ts";

export interface LimitedLogOptions {
  readonly maxLines: number;
  readonly windowMs: number;
}

export interface LimitedLog {
  /** Lines of a group have windows of their own; there must not be more groups than outsiders can make. */
  info(fields: object, message: string, group?: string): void;
  warn(fields: object, message: string): void;
  /** Writes the summary so far; further lines begin a window of their own. */
  flush(): void;
}

type Level = "info" | "warn";

interface Kind {
  readonly message: string;
  readonly group: string;
}

const defaults: LimitedLogOptions = { maxLines: 10, windowMs: 5_000 };
/** How many values of one field are counted, and how many are shown. */
const maxValues = 1_000;
const maxShown = 5;
/** Whatever names an event and not its kind would only fill the summary. */
const summedNames: ReadonlySet<string> = new Set([
  ...["address", "user", "company", "reason", "protocol", "method", "route", "status"],
]);

/** How often each value of one field occurred. */
class FieldSum {
  readonly #counts = new Map<string, number>();
  #isFull = false;

  add(value: string): void {
    const count = this.#counts.get(value);
    if (count === undefined && this.#counts.size >= maxValues) this.#isFull = true;
    else this.#counts.set(value, (count ?? 0) + 1);
  }

  /** The most frequent values with their counts, and how many different ones there were. */
  summary(): { readonly different: number | string; readonly most: Readonly<Record<string, number>> } {
    const most = [...this.#counts].sort(([, one], [, other]) => other - one).slice(0, maxShown);
    const different = this.#isFull ? `more than ${maxValues}` : this.#counts.size;
    return { different, most: Object.fromEntries(most) };
  }
}

class Window {
  readonly level: Level;
  readonly message: string;
  written = 0;
  summed = 0;
  readonly #sums = new Map<string, FieldSum>();

  constructor(level: Level, message: string) {
    this.level = level;
    this.message = message;
  }

  add(fields: object): void {
    this.summed += 1;
    for (const [name, value] of Object.entries(fields)) {
      if ((typeof value !== "string" && typeof value !== "number") || !summedNames.has(name)) continue;
      const sum = this.#sums.get(name) ?? new FieldSum();
      sum.add(String(value));
      this.#sums.set(name, sum);
    }
  }

  summary(): object {
    const fields = [...this.#sums].map(([name, sum]) => [name, sum.summary()] as const);
    return { more: this.summed, ...Object.fromEntries(fields) };
  }
}

/** Makes the log. Messages have to be fixed texts: each one has a window of its own. */
export function createLimitedLog(
  log: Pick<Logger, "info" | "warn">,
  options: LimitedLogOptions = defaults,
): LimitedLog {
  const windows = new Map<string, Window>();

  function end(key: string, window: Window): void {
    if (windows.get(key) === window) windows.delete(key);
    if (window.summed > 0) log[window.level](window.summary(), window.message);
  }

  function write(level: Level, fields: object, { message, group }: Kind): void {
    const key = `${level} ${group} ${message}`;
    let window = windows.get(key);
    if (window === undefined) {
      const opened = new Window(level, message);
      window = opened;
      windows.set(key, opened);
      // Unreferenced: a pending summary does not delay the end of the process.
      setTimeout(() => end(key, opened), options.windowMs).unref();
    }
    if (window.written >= options.maxLines) {
      window.add(fields);
      return;
    }
    window.written += 1;
    log[level](fields, message);
  }

  return {
    info: (fields, message, group = "") => write("info", fields, { message, group }),
    warn: (fields, message) => write("warn", fields, { message, group: "" }),
    flush() {
      for (const [key, window] of windows) end(key, window);
    },
  };
}
