import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers } from "pino";
import { standardOutput } from "./log-destination.ts";
import { visibleJson } from "./visible-text.ts";

/** The part of pino's logger that dropgate uses: one JSON line an event, `log.info({ ids }, "what happened")`. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error" | "fatal" | "child" | "level">;

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** Names under which a secret may stand anywhere in a logged object, to a depth of three. */
const secretNames = [
  "password",
  "passwordHash",
  "authorization",
  "Authorization",
  "secret",
  "token",
  "privateKey",
  "passphrase",
  "cookie",
];
const secretNameSet: ReadonlySet<string> = new Set(secretNames);
const censor = "[redacted]";
const deepest = 3;

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !(value instanceof Error) && !Array.isArray(value);
}

/**
 * The fields without secrets. A walk of our own over the few fields that are objects: the library's paths with wildcards
 * cost ten times the line itself.
 */
function redacted(fields: Record<string, unknown>, depth = 0): Record<string, unknown> {
  let copy = fields;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const shown = secretNameSet.has(name) ? censor : redactedValue(value, depth);
    if (shown === value) continue;
    if (copy === fields) copy = { ...fields };
    copy[name] = shown;
  }
  return copy;
}

function redactedValue(value: unknown, depth: number): unknown {
  return isPlain(value) && depth < deepest ? redacted(value, depth + 1) : value;
}

/** The time of a line as pino expects it. The first line of a millisecond formats it for the others. */
function createTimestamp(): () => string {
  let lastMs = Number.NaN;
  let text = "";
  return () => {
    const now = Date.now();
    if (now !== lastMs) {
      lastMs = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/** Names from outside occur in the lines; readers are to see all characters of them. */
function withoutHidden(destination: DestinationStream): DestinationStream {
  const { flushSync } = destination as { flushSync?(): void };
  return {
    write: (line: string) => destination.write(visibleJson(line)),
    ...(flushSync === undefined ? {} : { flushSync: () => flushSync.call(destination) }),
  };
}

/** Makes the root logger. Lines go to standard output unless `destination` is given. */
export function createLogger(options: { level: LogLevel; destination?: DestinationStream }): Logger {
  const settings = {
    level: options.level,
    base: null,
    timestamp: createTimestamp(),
    // For what a child logger always says; the fields of each line go through the formatter.
    redact: { paths: secretNames, censor },
    serializers: { err: (error: Error) => redacted({ ...stdSerializers.err(error) }) },
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => redacted(fields),
    },
  };
  return pino(settings, withoutHidden(options.destination ?? standardOutput()));
}
