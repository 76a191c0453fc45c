/**
 * The kinds of setting that the configuration schema is made of.
 *
 * Each function makes one TypeBox schema: the static type is what a loaded `Config` holds, the JSON Schema keywords
 * are what an editor needs, and the keyword `dropgate` says what JSON Schema cannot: which reader takes the value and
 * whether a change waits for a restart.
 */
import {
  type Static,
  type TArray,
  type TBoolean,
  type TInteger,
  type TObject,
  type TProperties,
  type TRecordOrObject,
  type TSchema,
  type TUnsafe,
  Type,
} from "@sinclair/typebox";
import type { Age } from "../../domain/retention/retention.ts";
import { given } from "../../lib/given.ts";
import type { Secret } from "./secret.ts";
import { sizePattern } from "./size.ts";

export type SettingKind =
  | "section"
  | "map"
  | "variants"
  | "list"
  | "integer"
  | "age"
  | "flag"
  | "choice"
  | "text"
  | "size"
  | "path"
  | "host"
  | "addressRange"
  | "secret";

/** What readers, generators and the reload table need of a schema, without TypeBox's generics. */
export interface SettingKeywords {
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  /** Sections by the value of their setting `type`. */
  readonly variants?: Readonly<Record<string, TSchema>>;
  readonly dropgate: {
    readonly kind: SettingKind;
    readonly needsRestart: boolean;
    /** The pattern in plain words, for messages and documentation. */
    readonly form?: string;
    /** How the key of a map is called in the documentation, such as `<CODE>`. */
    readonly keyName?: string;
    /** Instead of another setting of the section, never beside it: the sample keeps it as a remark. */
    readonly isAlternative?: boolean;
  };
}

/** What a setting may have besides its description, which comes first in each call. */
interface Common<T> {
  readonly default?: T;
  readonly example?: unknown;
  readonly needsRestart?: boolean;
  readonly isAlternative?: boolean;
}

interface Range {
  /** The least value and the greatest. */
  readonly range: readonly [minimum: number, maximum: number];
}

/** The keywords of a schema made by the functions of this file; the configuration has no other schemas. */
export function keywordsOf(schema: TSchema): SettingKeywords {
  return schema as unknown as SettingKeywords;
}

function keywords(
  kind: SettingKind,
  description: string,
  options: Common<unknown> = {},
  more: object = {},
): object {
  const { default: value, example, needsRestart = false, isAlternative } = options;
  const examples = example === undefined ? undefined : [example];
  return {
    ...given({ description, default: value, examples }),
    dropgate: { kind, needsRestart, ...given({ isAlternative }), ...more },
  };
}

/** Makes the same settings, which may be left out without a default: `optional(text)("…", { … })`. */
export function optional<Arguments extends unknown[], Setting extends TSchema>(
  make: (...given: Arguments) => Setting,
) {
  return (...given: Arguments) => Type.Optional(make(...given));
}

/** A whole number; its unit is the end of its name (`Ms`, `Mb`, `Percent`). */
export function integer(description: string, options: Common<number> & Range): TInteger {
  const [minimum, maximum] = options.range;
  return Type.Integer({ ...keywords("integer", description, options), minimum, maximum });
}

/** Without options it is off by default. */
export function flag(description: string, options: Common<boolean> = { default: false }): TBoolean {
  return Type.Boolean(keywords("flag", description, options));
}

export function choice<const T extends string>(
  description: string,
  choices: readonly T[],
  options?: Common<T>,
): TUnsafe<T> {
  return Type.Unsafe<T>({ type: "string", enum: choices, ...keywords("choice", description, options) });
}

/** Free text of at most `maxLength` characters; `form` says in words what `pattern` says. */
export function text(
  description: string,
  options: Common<string> & { maxLength: number; pattern: string; form: string },
): TUnsafe<string> {
  const { maxLength, pattern, form } = options;
  const own = { type: "string", maxLength, pattern };
  return Type.Unsafe<string>({ ...own, ...keywords("text", description, options, { form }) });
}

/** A number of bytes, written as a whole number or as text with a unit (`50MB`, `1GiB`); loaded as a number. */
export function size(description: string, options: Common<number> & Range): TUnsafe<number> {
  const [minimum, maximum] = options.range;
  // In JSON Schema the limits apply to numbers only and the pattern to text only, so no alternative is needed.
  const form = { type: ["integer", "string"], minimum, maximum, pattern: sizePattern };
  return Type.Unsafe<number>({ ...form, ...keywords("size", description, options) });
}

const mostDays = 36_500;

/** A number of days, or `keep`: for ever. */
export function age(description: string, options: Common<Age>): TUnsafe<Age> {
  // As in `size`: the limits apply to numbers only, and the pattern to text only.
  const form = { type: ["integer", "string"], minimum: 1, maximum: mostDays, pattern: "^keep$" };
  return Type.Unsafe<Age>({ ...form, ...keywords("age", description, options) });
}

/** A file or folder, absolute or relative to the folder of the configuration file; loaded as absolute. */
export function path(description: string, options: Common<string>): TUnsafe<string> {
  return Type.Unsafe<string>({ type: "string", minLength: 1, ...keywords("path", description, options) });
}

/** An address or host name to listen on. */
export function host(description: string, options: Common<string>): TUnsafe<string> {
  const form = { type: "string", minLength: 1, maxLength: 253 };
  return Type.Unsafe<string>({ ...form, ...keywords("host", description, options) });
}

/** Addresses and CIDR ranges, IPv4 and IPv6. */
export function addressRanges(description: string, options: Common<string[]>): TArray<TUnsafe<string>> {
  const ofItem = keywords("addressRange", "an address or a CIDR range");
  return list(description, Type.Unsafe<string>({ type: "string", ...ofItem }), {
    ...options,
    maxItems: 1000,
  });
}

/** A secret by reference; a value that is written out is refused. */
export function secret(description: string, options: Common<never>): TUnsafe<Secret> {
  const form = { type: "string", pattern: "^(env|file|credential):.+$" };
  return Type.Unsafe<Secret>({ ...form, ...keywords("secret", description, options) });
}

export function list<T extends TSchema>(
  description: string,
  item: T,
  options: Common<Static<T>[]> & { maxItems: number },
): TArray<T> {
  return Type.Array(item, { maxItems: options.maxItems, ...keywords("list", description, options) });
}

/** Settings under fixed names. Left out, it is read as if it stood there empty, unless it is `Type.Optional`. */
export function section<P extends TProperties>(
  description: string,
  properties: P,
  options?: Common<never>,
): TObject<P> {
  return Type.Object(properties, {
    additionalProperties: false,
    ...keywords("section", description, options),
  });
}

/** The name of the setting that tells which of the variants a section is. */
export const variantSetting = "type";

/** One of several sections: each has a required setting `type`, which is a choice of the one name it stands under. */
export function variants<V extends Record<string, TObject>>(
  description: string,
  sections: V,
): TUnsafe<Static<V[keyof V]>> {
  return Type.Unsafe<Static<V[keyof V]>>({ variants: sections, ...keywords("variants", description) });
}

/** The section that a value's `type` names; undefined for a schema without variants or a type that is none of them. */
export function variantOf({ variants: sections = {} }: SettingKeywords, value: unknown): TSchema | undefined {
  const type =
    typeof value === "object" && value !== null && variantSetting in value ? value.type : undefined;
  return typeof type === "string" && Object.hasOwn(sections, type) ? sections[type] : undefined;
}

/** Equal settings under names of the user's choice; two names may not differ in case alone. */
export function map<T extends TSchema>(
  description: string,
  item: T,
  options: Common<never> & { keyPattern: string; keyForm: string; keyName: string },
): TRecordOrObject<ReturnType<typeof Type.String>, T> {
  const more = { form: options.keyForm, keyName: options.keyName };
  return Type.Record(Type.String({ pattern: options.keyPattern }), item, {
    additionalProperties: false,
    ...keywords("map", description, options, more),
  });
}
