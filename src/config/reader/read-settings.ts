/**
 * Reads a YAML document by the configuration schema: one pass that checks, converts and fills in defaults, and notes
 * every fault at its line instead of stopping at the first.
 */
import { resolve } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import { isSeq, type ParsedNode } from "yaml";
import { type Entry, entriesOf } from "./map-entries.ts";
import { containerFault, readScalar } from "./read-scalar.ts";
import { type Found, isEmptyNode, quoted, type Reading, refuse, unreadable } from "./reading.ts";
import { choice, keywordsOf, type SettingKeywords, variantOf, variantSetting } from "./setting.ts";
import { unknownNameFault } from "./unknown-name.ts";

/** Reads the whole document. With faults noted, the result has defaults in the place of what could not be read. */
export function readSettings(schema: TSchema, root: ParsedNode | null, reading: Reading): unknown {
  const found = { path: "", node: root, offset: root?.range[0] ?? 0 };
  const value = readSetting(schema, found, reading);
  return value === unreadable ? defaultOf(schema, reading) : value;
}

function readSetting(schema: TSchema, found: Found, reading: Reading): unknown {
  const setting = keywordsOf(schema);
  const { kind } = setting.dropgate;
  if (kind === "section") return readSection(setting, found, reading);
  if (kind === "map") return readMap(setting, found, reading);
  if (kind === "variants") return readVariant(setting, found, reading);
  if (kind === "list") return readList(setting, found, reading);
  return readScalar(kind, setting, found, reading);
}

function isContainer(schema: TSchema): boolean {
  const { kind } = keywordsOf(schema).dropgate;
  return kind === "section" || kind === "map";
}

/** The value of a setting that does not stand in the file, made anew each time; undefined when it has no default. */
function defaultOf(schema: TSchema, reading: Reading): unknown {
  const { default: value, dropgate } = keywordsOf(schema);
  if (dropgate.kind === "path" && typeof value === "string") return resolve(reading.folder, value);
  if (!isContainer(schema)) return structuredClone(value);
  const silent = { ...reading, faults: [], places: new Map() };
  return readSetting(schema, { path: "", node: null, offset: 0 }, silent);
}

const maxNamed = 4;

/** What a section takes, for messages; of a large one only the first settings. */
function settingsBelow(names: readonly string[]): string {
  const named = names.slice(0, maxNamed).map((name) => `\`${name}\``);
  const rest = names.length > maxNamed ? " and others" : "";
  return `its settings below it (${named.join(", ")}${rest}), each as \`name: value\``;
}

function readSection(setting: SettingKeywords, found: Found, reading: Reading): unknown {
  const properties = setting.properties ?? {};
  const entries = entriesOf(found, reading, settingsBelow(Object.keys(properties)));
  if (entries === undefined) return unreadable;
  for (const { name, keyOffset, ...entry } of entries.values()) {
    if (Object.hasOwn(properties, name)) continue;
    refuse(reading, { ...entry, offset: keyOffset }, unknownNameFault(name, found.path, properties));
  }
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const isOptional = !(setting.required?.includes(name) ?? false);
    const value = readProperty({ name, schema, isOptional, entry: entries.get(name) }, found, reading);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/** `type` is read first: it decides which other settings there are. */
function readVariant(setting: SettingKeywords, found: Found, reading: Reading): unknown {
  const types = Object.keys(setting.variants ?? {});
  // Without noting anything: the section notes it when it is read.
  const first = { ...reading, faults: [], places: new Map() };
  const entries = entriesOf(found, first);
  if (entries === undefined) {
    reading.faults.push(...first.faults);
    return unreadable;
  }
  const entry = entries.get(variantSetting);
  if (entry === undefined)
    return refuse(reading, found, `${quoted(variantSetting)} is missing: one of ${types.join(", ")}`);
  const type = readScalar("choice", keywordsOf(choice("", types)), entry, reading);
  const section = variantOf(setting, { [variantSetting]: type });
  return section === undefined ? unreadable : readSetting(section, found, reading);
}

interface Property {
  readonly name: string;
  readonly schema: TSchema;
  readonly isOptional: boolean;
  readonly entry: Entry | undefined;
}

function readProperty({ name, schema, isOptional, entry }: Property, parent: Found, reading: Reading) {
  // A section whose settings are all commented out is one that does not stand there.
  const isAbsent = entry === undefined || (isContainer(schema) && isEmptyNode(entry.node));
  if (!isAbsent) {
    const value = readSetting(schema, entry, reading);
    return value === unreadable ? defaultOf(schema, reading) : value;
  }
  if (isOptional) return undefined;
  const value = defaultOf(schema, reading);
  if (value === undefined)
    refuse(reading, parent, `${quoted(name)} is missing: ${keywordsOf(schema).description ?? ""}`);
  return value;
}

function readMap(setting: SettingKeywords, found: Found, reading: Reading): unknown {
  const entries = entriesOf(found, reading);
  if (entries === undefined) return unreadable;
  const [[pattern, schema] = ["", undefined]] = Object.entries(setting.patternProperties ?? {});
  // No prototype: a company may be called `constructor`, and asking for one that is not there must find nothing.
  const values: Record<string, unknown> = Object.create(null);
  const namesInUse = new Map<string, string>();
  for (const { name, keyOffset, ...entry } of entries.values()) {
    const atKey = { ...entry, offset: keyOffset };
    const sameName = namesInUse.get(name.toLowerCase());
    if (!new RegExp(pattern).test(name)) {
      refuse(reading, atKey, `${quoted(name)} must be ${setting.dropgate.form}`);
    } else if (sameName !== undefined) {
      refuse(reading, atKey, `${quoted(name)} and ${quoted(sameName)} differ in case alone; keep one`);
    } else if (schema !== undefined) {
      namesInUse.set(name.toLowerCase(), name);
      const value = readSetting(schema, entry, reading);
      if (value !== unreadable) values[name] = value;
    }
  }
  return values;
}

function readList(setting: SettingKeywords, found: Found, reading: Reading): unknown {
  const { node } = found;
  const { items: schema, maxItems = 0 } = setting;
  if (isEmptyNode(node)) return refuse(reading, found, "has no value; write [] for none or remove the line");
  if (!isSeq(node)) return refuse(reading, found, containerFault(node, "a list of values (`- value`)"));
  if (node.items.length > maxItems)
    return refuse(reading, found, `has ${node.items.length} values; at most ${maxItems} are allowed`);
  const values = node.items.map((item, index) => {
    const path = `${found.path}[${index}]`;
    const offset = item.range?.[0] ?? found.offset;
    reading.places.set(path, reading.placeOf(offset));
    return schema === undefined ? unreadable : readSetting(schema, { path, node: item, offset }, reading);
  });
  return values.filter((value) => value !== unreadable);
}
