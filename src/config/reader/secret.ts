/**
 * Secrets by reference. The configuration names where a secret lies and never holds it, so that the file can be shown,
 * copied and kept under version control:
 *
 *   env:NAME          an environment variable
 *   file:PATH         the content of a file without its last line break; relative to the configuration file's folder
 *   credential:NAME   a systemd credential (LoadCredential=, SetCredentialEncrypted=)
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { inspect } from "node:util";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";

const shown = "[secret]";
const maxSecretBytes = 65_536;

interface MissingSecret {
  /** Why it could not be read. */
  readonly missing: string;
}

/** A value that no log line, JSON text or debugger output shows; only `reveal()` returns it. */
export class Secret {
  readonly #value: string | MissingSecret;

  constructor(value: string | MissingSecret) {
    this.#value = value;
  }

  /** Throws for one that could not be read where the configuration names it. */
  reveal(): string {
    if (typeof this.#value === "string") return this.#value;
    throw new Error(this.#value.missing);
  }

  /** Undefined for one that could not be read. */
  ifKnown(): string | undefined {
    return typeof this.#value === "string" ? this.#value : undefined;
  }

  equals(other: unknown): boolean {
    return other instanceof Secret && other.#value === this.#value;
  }

  toString(): string {
    return shown;
  }

  toJSON(): string {
    return shown;
  }

  [inspect.custom](): string {
    return shown;
  }
}

export type SecretOutcome =
  | { readonly kind: "resolved"; readonly secret: Secret; readonly warning?: string }
  /** The reference is well-formed, but nothing can be read there. */
  | { readonly kind: "missing"; readonly message: string }
  | { readonly kind: "refused"; readonly message: string };

export interface SecretSources {
  readonly env: NodeJS.ProcessEnv;
  /** Relative `file:` paths start here. */
  readonly folder: string;
}

function missing(message: string): SecretOutcome {
  return { kind: "missing", message };
}

function refused(message: string): SecretOutcome {
  return { kind: "refused", message };
}

function secretFrom(value: string, where: string): SecretOutcome {
  if (value === "") return missing(`${where} is empty; put the secret there`);
  return { kind: "resolved", secret: new Secret(value) };
}

function resolveEnvironment(name: string, sources: SecretSources): SecretOutcome {
  const value = sources.env[name];
  if (value === undefined) return missing(`the environment variable ${name} is not set; set it or use file:`);
  return secretFrom(value, `the environment variable ${name}`);
}

function readSecretFile(file: string): { text: string; mode: number } {
  // O_NONBLOCK: opening a FIFO that nobody writes to would hang the start.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Error("not a regular file");
    if (stats.size > maxSecretBytes) throw new Error(`over ${maxSecretBytes} bytes long`);
    return { text: readFileSync(descriptor, "utf8"), mode: stats.mode };
  } finally {
    closeSync(descriptor);
  }
}

function reasonOf(error: unknown): string {
  const code = systemCodeOf(error);
  if (code === "ENOENT") return "does not exist";
  if (code === "EACCES") return "cannot be read by this user";
  return `cannot be used (${messageOf(error)})`;
}

function resolveFile(file: string, isModeChecked: boolean): SecretOutcome {
  try {
    const { text, mode } = readSecretFile(file);
    const outcome = secretFrom(text.replace(/\r?\n$/, ""), `the file ${file}`);
    if (outcome.kind !== "resolved" || !isModeChecked || (mode & 0o077) === 0) return outcome;
    const modeText = (mode & 0o777).toString(8).padStart(4, "0");
    return {
      ...outcome,
      warning: `the secret file ${file} has mode ${modeText} and others may read it; chmod 0600`,
    };
  } catch (error) {
    return missing(`the secret file ${file} ${reasonOf(error)}`);
  }
}

function resolveCredential(name: string, sources: SecretSources): SecretOutcome {
  if (!/^[A-Za-z0-9._@-]{1,255}$/.test(name) || name === "." || name === "..")
    return refused("a credential's name is made of letters, digits and . _ @ -");
  const directory = sources.env["CREDENTIALS_DIRECTORY"];
  if (directory === undefined || directory === "") {
    return missing(
      `there are no systemd credentials ($CREDENTIALS_DIRECTORY is not set); add LoadCredential=${name}:… to the unit`,
    );
  }
  // systemd makes these files readable for the service alone, whatever their mode says.
  return resolveFile(join(directory, name), false);
}

/**
 * Resolves `env:NAME`, `file:PATH` or `credential:NAME`. Reads synchronously: it happens at start and reload only, and
 * one pass over the configuration stays one pass. A refused literal is not repeated in the message.
 */
export function resolveSecret(reference: string, sources: SecretSources): SecretOutcome {
  const [, scheme, rest] = /^(env|file|credential):(.+)$/s.exec(reference) ?? [];
  if (scheme === undefined || rest === undefined || rest.includes("\0")) {
    return refused(
      "a secret may not stand in the configuration; write env:NAME, file:PATH or credential:NAME and put the value there",
    );
  }
  if (scheme === "env") return resolveEnvironment(rest, sources);
  if (scheme === "credential") return resolveCredential(rest, sources);
  return resolveFile(resolve(sources.folder, rest), true);
}
