/**
 * What all imports have in common (specification/resources.md#import-documents): an object with the company's code and
 * one list, whose entries are brought into canonical form and checked. All faults are reported, at most 50.
 */
import { setImmediate } from "node:timers/promises";
import { type TSchema, Type } from "@sinclair/typebox";
import { isFields } from "../../domain/fields/fields-of-json.ts";
import { unknownFieldFaults } from "../../domain/fields/unknown-fields.ts";
import { type Fault, maxKeptFaults } from "../../lib/errors.ts";
import type { JsonLimits } from "../../lib/json-text.ts";
import { faultOfCompanyCode, refusal } from "../request-body.ts";

/** One kind of import: the name of its list, and the check of an entry. */
export interface ImportKind<Entity> {
  /** Name of the list in the request, such as `stops`. */
  readonly list: string;
  readonly schema: TSchema;
  /** Brings an entry into the canonical form; unreadable values stay as they are. */
  readonly normalise: (value: unknown) => unknown;
  /** What is wrong with an entry in canonical form; nothing means that it is an `Entity`. */
  readonly validate: (value: unknown, path: string) => readonly Fault[];
  /** Never called: it carries the type of the entries. */
  readonly entity?: Entity;
  /** The amount of work in an entry, where it is not one. */
  readonly weightOf?: (value: unknown) => number;
}

export interface ImportRules {
  /** Most entries of one import; more are refused (909). */
  readonly maxEntries: number;
  readonly unknownFields: "keep" | "refuse";
}

/** The rules when the caller names no others: the defaults of the configuration. */
export const defaultImportRules: ImportRules = { maxEntries: 5_000, unknownFields: "keep" };

export interface ImportInput {
  readonly companyId: number;
  /** The code in the request's path. */
  readonly companyCode: string;
  /** The request's body as parsed JSON. */
  readonly body: unknown;
  /** A large body, unparsed, instead of `body`. It is transferred. */
  readonly large?: Uint8Array;
  readonly jsonLimits?: JsonLimits;
  readonly rules?: ImportRules;
}

/** So much is checked at a time, so that other requests get their turn. */
const weightInTurn = 100;

function faultOfList(name: string, list: unknown, maxEntries: number): Fault | undefined {
  const remedy = `Send a list of ${name}.`;
  if (list === undefined || list === null)
    return { code: "emptyList", path: name, message: `${name} is missing. ${remedy}` };
  if (!Array.isArray(list))
    return { code: "wrongType", path: name, message: `${name} is not a list. ${remedy}` };
  if (list.length === 0)
    return { code: "emptyList", path: name, message: `${name} is empty. Send at least one entry.` };
  if (list.length <= maxEntries) return undefined;
  const message = `${name} has ${list.length} entries, more than the limit of ${maxEntries}. Send them in several requests.`;
  return { code: "tooLarge", path: name, message };
}

/** The object around the list; entries are checked one by one. */
function formOf(list: string): TSchema {
  return Type.Object({ companyCode: Type.Unknown(), [list]: Type.Unknown() });
}

function faultsOfEntry<Entity>(
  kind: ImportKind<Entity>,
  entry: unknown,
  path: string,
  rules: ImportRules,
): readonly Fault[] {
  const faults = kind.validate(entry, path);
  if (rules.unknownFields === "keep") return faults;
  return [...faults, ...unknownFieldFaults(kind.schema, entry, path)];
}

/** An import that is being read, entry by entry. */
interface Reading<Entity> {
  readonly kind: ImportKind<Entity>;
  readonly list: readonly unknown[];
  readonly rules: ImportRules;
  readonly faults: Fault[];
  readonly entities: unknown[];
}

/** Reads as many entries as may be read at a time; returns whether there are more. */
function readSome<Entity>({ kind, list, rules, faults, entities }: Reading<Entity>): boolean {
  let weight = 0;
  while (entities.length < list.length && weight < weightInTurn) {
    const entry = list[entities.length];
    const entity = kind.normalise(entry);
    faults.push(...faultsOfEntry(kind, entity, `${kind.list}[${entities.length}]`, rules));
    if (faults.length >= maxKeptFaults) return false;
    entities.push(entity);
    weight += kind.weightOf?.(entry) ?? 1;
  }
  return entities.length < list.length;
}

/**
 * The entries of an import, checked; a long list is read with waits for others to work. Throws a `DropgateError` with all
 * faults.
 */
export async function readImport<Entity>(
  kind: ImportKind<Entity>,
  input: Pick<ImportInput, "companyCode" | "body" | "rules">,
): Promise<readonly Entity[]> {
  const { body, companyCode, rules = defaultImportRules } = input;
  if (!isFields(body)) {
    const message = `the body is not an object. Send an object with companyCode and ${kind.list}.`;
    throw refusal([{ code: "wrongType", message }]);
  }
  const list = body[kind.list];
  const whole = [
    faultOfCompanyCode(body["companyCode"], companyCode),
    faultOfList(kind.list, list, rules.maxEntries),
  ];
  const beside = rules.unknownFields === "keep" ? [] : unknownFieldFaults(formOf(kind.list), body, "");
  const faults = [...whole.filter((fault) => fault !== undefined), ...beside];
  if (!Array.isArray(list) || faults.some(({ code }) => code === "tooLarge")) throw refusal(faults);
  const reading: Reading<Entity> = { kind, list, rules, faults, entities: [] };
  while (readSome(reading)) await setImmediate();
  if (faults.length > 0) throw refusal(faults);
  return reading.entities as readonly Entity[];
}
