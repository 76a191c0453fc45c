/**
 * From a file to the one frozen `Config`: find, parse, read by the schema, check rules over several settings. All
 * faults come back together, each with its line, so that one edit can correct them all.
 */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { messageOf, systemCodeOf } from "../lib/errors.ts";
import { checkConfig } from "./rules/check-config.ts";
import type { RuleFault } from "./rules/rule-fault.ts";
import { type ConfigFault, inFileOrder } from "./reader/config-fault.ts";
import { parseYaml, type Place } from "./reader/parse-yaml.ts";
import { readSettings } from "./reader/read-settings.ts";
import type { Reading } from "./reader/reading.ts";
import { type Config, configSchema } from "./schema.ts";
import { Secret } from "./reader/secret.ts";

export interface LoadOptions {
  /** What `--config` names; then no other place is searched. */
  readonly path?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /**
   * Whether a secret that cannot be read is a fault (the default); else the fault is thrown when the secret is
   * revealed. The shell of an administrator does not have the variables and credentials of the service.
   */
  readonly needsSecrets?: boolean;
}

export type LoadOutcome =
  | {
      readonly kind: "loaded";
      readonly config: Config;
      /** Absolute. */
      readonly file: string;
      readonly warnings: readonly ConfigFault[];
    }
  | { readonly kind: "faulty"; readonly file?: string; readonly faults: readonly ConfigFault[] };

interface FoundFile {
  readonly file: string;
  readonly bytes: Uint8Array;
}

const usualPlaces = ["config/dropgate.yaml", "/etc/dropgate/dropgate.yaml"];

/** Loads the configuration: `--config`, `DROPGATE_CONFIG`, ./config/dropgate.yaml, /etc/dropgate/dropgate.yaml. */
export async function loadConfig(options: LoadOptions): Promise<LoadOutcome> {
  const found = await findFile(options);
  return "kind" in found ? found : loadBytes(found, options);
}

async function findFile(options: LoadOptions): Promise<FoundFile | LoadOutcome> {
  const variable = options.env["DROPGATE_CONFIG"];
  if (options.path !== undefined) return readNamed(resolve(options.cwd, options.path), "--config");
  if (variable) return readNamed(resolve(options.cwd, variable), "DROPGATE_CONFIG");
  const candidates = usualPlaces.map((place) => resolve(options.cwd, place));
  for (const file of candidates) {
    const outcome = await readBytes(file);
    if (outcome !== undefined) return outcome;
  }
  const message = `no configuration found: --config and DROPGATE_CONFIG are not given, and there is neither ${candidates.join(" nor ")}; make one with \`dropgate init\``;
  return { kind: "faulty", faults: [{ path: "", message }] };
}

async function readNamed(file: string, namedBy: string): Promise<FoundFile | LoadOutcome> {
  const message = `there is no such file (${namedBy} names it)`;
  return (await readBytes(file)) ?? { kind: "faulty", file, faults: [{ path: "", message }] };
}

/** Undefined when there is no such file. A file that exists but cannot be read is a fault, never ignored. */
async function readBytes(file: string): Promise<FoundFile | LoadOutcome | undefined> {
  try {
    return { file, bytes: await readFile(file) };
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const message = code === "EISDIR" ? "is a folder; name a file" : `cannot be read: ${messageOf(error)}`;
    return { kind: "faulty", file, faults: [{ path: "", message }] };
  }
}

function loadBytes({ file, bytes }: FoundFile, { env, needsSecrets = true }: LoadOptions): LoadOutcome {
  const { root, faults: formFaults, placeOf } = parseYaml(bytes);
  // After a syntax error the positions of all that follows cannot be trusted.
  if (formFaults.length > 0) return { kind: "faulty", file, faults: inFileOrder(formFaults) };
  const reading: Reading = {
    env,
    folder: dirname(file),
    needsSecrets,
    faults: [],
    warnings: [],
    places: new Map(),
    placeOf,
  };
  const config = readSettings(configSchema, root, reading) as Config;
  const faultyPaths = reading.faults.map(({ path }) => path);
  const rules = checkConfig(config, faultyPaths);
  const place = ({ path, otherPath, message }: RuleFault): ConfigFault => {
    const { places } = reading;
    const exact = places.get(path) ?? places.get(otherPath ?? path);
    return { ...(exact ?? placeOfPath(path, places)), path, message };
  };
  const faults = [...reading.faults, ...rules.faults.map(place)];
  if (faults.length > 0) return { kind: "faulty", file, faults: inFileOrder(faults) };
  const warnings = inFileOrder([...reading.warnings, ...rules.warnings.map(place)]);
  return { kind: "loaded", config: deepFreeze(config), file, warnings };
}

/** Where a setting stands, or the nearest part of its path that does. */
function placeOfPath(path: string, places: ReadonlyMap<string, Place>): Place {
  const found = places.get(path);
  if (found !== undefined || path === "") return found ?? {};
  return placeOfPath(path.replace(/\.?[^.]*$/, ""), places);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || value instanceof Secret) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
