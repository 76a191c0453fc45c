/** Readers of single values: from a YAML scalar to what a loaded configuration holds, or a fault with its remedy. */
import { resolve } from "node:path";
import { isAlias, isMap, isScalar, isSeq, type ParsedNode } from "yaml";
import { faultOfAddressRange, faultOfHost } from "./address-range.ts";
import { type Found, isEmptyNode, quoted, type Reading, refuse, unreadable } from "./reading.ts";
import { resolveSecret, Secret } from "./secret.ts";
import type { SettingKeywords, SettingKind } from "./setting.ts";
import { formatSize, parseSize } from "./size.ts";
import { suggestName } from "./suggest-name.ts";

interface ScalarInput {
  readonly value: unknown;
  readonly setting: SettingKeywords;
  readonly found: Found;
  readonly reading: Reading;
}

type ScalarKind = Exclude<SettingKind, "section" | "map" | "variants" | "list">;
type ScalarReader = (input: ScalarInput) => unknown;

function fault(input: ScalarInput, message: string): typeof unreadable {
  return refuse(input.reading, input.found, message);
}

function rangeOf(setting: SettingKeywords, format: (value: number) => string): string {
  return `from ${format(setting.minimum ?? 0)} to ${format(setting.maximum ?? Number.MAX_SAFE_INTEGER)}`;
}

function isInRange(value: number, setting: SettingKeywords): boolean {
  return value >= (setting.minimum ?? 0) && value <= (setting.maximum ?? Number.MAX_SAFE_INTEGER);
}

function readInteger(input: ScalarInput): unknown {
  const { value, setting } = input;
  if (typeof value === "number" && Number.isInteger(value) && isInRange(value, setting)) return value;
  return fault(input, `must be a whole number ${rangeOf(setting, String)}, not ${quoted(value)}`);
}

function readAge(input: ScalarInput): unknown {
  const { value, setting } = input;
  if (value === "keep") return value;
  if (typeof value === "number" && Number.isInteger(value) && isInRange(value, setting)) return value;
  return fault(
    input,
    `must be a whole number of days ${rangeOf(setting, String)}, or keep, not ${quoted(value)}`,
  );
}

function readSize(input: ScalarInput): unknown {
  const { value, setting } = input;
  const bytes = typeof value === "string" ? parseSize(value) : value;
  const range = rangeOf(setting, formatSize);
  if (typeof bytes !== "number" || !Number.isInteger(bytes)) {
    return fault(
      input,
      `must be a number of bytes or a text such as 50MB or 1GiB, ${range}, not ${quoted(value)}`,
    );
  }
  return isInRange(bytes, setting) ? bytes : fault(input, `must be ${range}, not ${quoted(value)}`);
}

function readFlag(input: ScalarInput): unknown {
  return typeof input.value === "boolean"
    ? input.value
    : fault(input, `must be true or false, not ${quoted(input.value)}`);
}

function readChoice(input: ScalarInput): unknown {
  const choices = input.setting.enum ?? [];
  if (typeof input.value === "string" && choices.includes(input.value)) return input.value;
  const near = suggestName(String(input.value), choices);
  const hint = near === undefined ? "" : `; did you mean \`${near}\`?`;
  return fault(input, `must be one of ${choices.join(", ")}, not ${quoted(input.value)}${hint}`);
}

/** The value as text; a number or boolean without quotes is refused, because YAML may have changed it (`007`). */
function textOf(input: ScalarInput): string | typeof unreadable {
  const { value } = input;
  if (typeof value !== "string") return fault(input, `must be text; put ${quoted(value)} in quotes`);
  return value;
}

function readText(input: ScalarInput): unknown {
  const value = textOf(input);
  if (value === unreadable) return unreadable;
  const { maxLength = 0, pattern = "", dropgate } = input.setting;
  if (value.length > maxLength)
    return fault(input, `has ${value.length} characters; at most ${maxLength} are allowed`);
  if (!new RegExp(pattern).test(value)) return fault(input, `must be ${dropgate.form}, not ${quoted(value)}`);
  return value;
}

function readPath(input: ScalarInput): unknown {
  const value = textOf(input);
  if (value === unreadable) return unreadable;
  if (value === "" || value.includes("\0")) return fault(input, "must be the path of a file or folder");
  if (value === "~" || value.startsWith("~/"))
    return fault(input, "`~` is not expanded; write the whole path");
  return resolve(input.reading.folder, value);
}

function checkedText(faultOf: (text: string) => string | undefined): ScalarReader {
  return (input) => {
    const value = textOf(input);
    if (value === unreadable) return unreadable;
    const message = faultOf(value);
    return message === undefined ? value : fault(input, message);
  };
}

function readSecret(input: ScalarInput): unknown {
  const { found, reading } = input;
  // A number here is a literal secret too; it is refused without being shown.
  const outcome = resolveSecret(typeof input.value === "string" ? input.value : "", reading);
  if (outcome.kind === "missing" && !reading.needsSecrets)
    return new Secret({ missing: `${found.path}: ${outcome.message}` });
  if (outcome.kind !== "resolved") return fault(input, outcome.message);
  if (outcome.warning !== undefined) {
    reading.warnings.push({
      ...reading.placeOf(found.offset),
      path: found.path,
      message: outcome.warning,
    });
  }
  return outcome.secret;
}

const readers: Readonly<Record<ScalarKind, ScalarReader>> = {
  integer: readInteger,
  age: readAge,
  size: readSize,
  flag: readFlag,
  choice: readChoice,
  text: readText,
  path: readPath,
  host: checkedText(faultOfHost),
  addressRange: checkedText(faultOfAddressRange),
  secret: readSecret,
};

const aliasFault = "aliases (*…) are not supported; write the value out";

function scalarFault({ node }: Found): string | undefined {
  if (isAlias(node)) return aliasFault;
  if (isEmptyNode(node)) return "has no value; write one or remove the line";
  if (isMap(node)) return "has settings below it; it takes a single value";
  if (isSeq(node)) return "is a list; it takes a single value";
  return undefined;
}

/** Why a node that is not of the wanted kind cannot be read: `wanted` completes "must have …". */
export function containerFault(node: ParsedNode | null, wanted: string): string {
  if (isAlias(node)) return aliasFault;
  const shown = isScalar(node) ? `, not the value ${quoted(node.value)}` : "";
  return `must have ${wanted}${shown}`;
}

/** Reads one scalar setting. */
export function readScalar(
  kind: ScalarKind,
  setting: SettingKeywords,
  found: Found,
  reading: Reading,
): unknown {
  const message = scalarFault(found);
  if (message !== undefined) return refuse(reading, found, message);
  const value = isScalar(found.node) ? found.node.value : undefined;
  return readers[kind]({ value, setting, found, reading });
}
