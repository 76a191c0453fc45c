import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from "pino";

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

function redactedPaths(): string[] {
  return secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`]);
}

/** Makes the root logger. Lines go to standard output unless `destination` is given. */
export function createLogger(options: { level: LogLevel; destination?: DestinationStream }): Logger {
  const settings = {
    level: options.level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: redactedPaths(), censor: "[redacted]" },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}
