/**
 * Writes a configuration file with every setting in it. Settings are commented out with `#` and no space, showing
 * their default or an example; explanations have `# ` with a space. Removing a `#` changes one setting.
 */
import type { TSchema } from "@sinclair/typebox";
import { Document } from "yaml";
import { joinPath } from "./reader/reading.ts";
import { configSchema } from "./schema.ts";
import { descriptionWithRestart, keywordsOf, type SettingKeywords } from "./reader/setting.ts";
import { childrenOf, type ListedSetting } from "./reader/setting-list.ts";
import { formatSize } from "./reader/size.ts";
import { wrapped } from "./wrapped.ts";

type Values = Readonly<Record<string, string | number | boolean>>;

/** Where a line stands: its depth, and from which depth on it is commented out (if it is). */
interface Level {
  readonly depth: number;
  readonly commentedFrom?: number;
}

const maxLineLength = 100;

function line(content: string, { depth, commentedFrom }: Level): string {
  if (commentedFrom === undefined) return `${"  ".repeat(depth)}${content}`;
  return `${"  ".repeat(commentedFrom)}#${"  ".repeat(depth - commentedFrom)}${content}`;
}

function explanation({ setting }: ListedSetting, level: Level): string[] {
  const width = maxLineLength - 2 * level.depth - 3;
  return wrapped(descriptionWithRestart(setting), width).map((part) => line(`# ${part}`, level));
}

/** A value as it stands behind `name: ` in YAML. */
export function yamlText(value: unknown): string {
  const format = { collectionStyle: "flow", flowCollectionPadding: false, lineWidth: 0 } as const;
  return new Document(value).toString(format).trim();
}

/** What a setting shows: its default, or else its example. */
export function shownValue({ setting }: ListedSetting): string {
  const value = setting.default ?? setting.examples?.[0];
  return setting.dropgate.kind === "size" && typeof value === "number"
    ? formatSize(value)
    : yamlText(value ?? "");
}

function isGivenBelow(path: string, values: Values): boolean {
  return Object.keys(values).some((given) => given === path || given.startsWith(`${path}.`));
}

function commented(level: Level, isCommented: boolean): Level {
  return isCommented ? { depth: level.depth, commentedFrom: level.commentedFrom ?? level.depth } : level;
}

function deeper(level: Level, by = 1): Level {
  return { ...level, depth: level.depth + by };
}

function renderValue(child: ListedSetting, name: string, level: Level, values: Values): string[] {
  const given = values[child.path];
  const value = given === undefined ? shownValue(child) : yamlText(given);
  // As a remark: it could not stand beside what it stands for.
  if (child.setting.dropgate.isAlternative === true)
    return [...explanation(child, level), line(`# ${name}: ${value}`, level)];
  const ownLevel = commented(level, given === undefined);
  return [...explanation(child, level), line(`${name}: ${value}`, ownLevel)];
}

function renderContainer(child: ListedSetting, name: string, level: Level, values: Values): string[] {
  const isOptional = !child.isRequired && !isGivenBelow(child.path, values);
  const ownLevel = commented(level, isOptional);
  const head = [...explanation(child, level), line(`${name}:`, ownLevel)];
  return [...head, ...renderChildren(child.schema, child.path, deeper(ownLevel), values)];
}

/** A list of sections is shown with one example item, its first setting behind the dash. */
function renderList(child: ListedSetting, name: string, level: Level, item: ListedSetting): string[] {
  const ownLevel = commented(level, true);
  const settings = childrenOf(item.schema, item.path);
  const lines = settings.flatMap((setting, index) => {
    const own = `${setting.path.slice(item.path.length + 1)}: ${shownValue(setting)}`;
    return [
      ...explanation(setting, deeper(ownLevel, 2)),
      line(index === 0 ? `- ${own}` : own, deeper(ownLevel, index === 0 ? 1 : 2)),
    ];
  });
  return [...explanation(child, level), line(`${name}:`, ownLevel), ...lines];
}

function renderChild(child: ListedSetting, name: string, level: Level, values: Values): string[] {
  const { kind } = child.setting.dropgate;
  if (kind === "section" || kind === "map") return renderContainer(child, name, level, values);
  const [item] = childrenOf(child.schema, child.path);
  if (item?.setting.dropgate.kind === "section") return renderList(child, name, level, item);
  return renderValue(child, name, level, values);
}

function renderChildren(schema: TSchema, path: string, level: Level, values: Values): string[] {
  return childrenOf(schema, path).flatMap((child) => {
    const name = nameInSample(child, path, keywordsOf(schema));
    const gap = level.depth === 0 ? [""] : [];
    return [...gap, ...renderChild(child, name, level, values)];
  });
}

/** Below a map stands one example under a name of the schema's choice; of variants one each, under its type. */
function nameInSample(child: ListedSetting, parentPath: string, parent: SettingKeywords): string {
  const name = child.path.slice(parentPath === "" ? 0 : parentPath.length + 1);
  return name === parent.dropgate.keyName ? String(parent.examples?.[0]) : name.replace(/^<(.+)>$/, "$1");
}

const head = [
  "# Configuration of dropgate. Every setting is shown with its default, or an example where it has none;",
  "# remove the # in front of a setting to change it. Relative paths start at the folder of this file.",
  "# `dropgate check` checks the whole installation; docs/configuration.md has limits and units.",
];

/**
 * The text of a configuration file. `values` (by path, such as `http.port`) are set; everything else is commented out.
 * Values of lists and companies cannot be given. `schemaFile` tells editors where the JSON Schema lies. Throws on a path that the schema does not have.
 */
export function renderSample(values: Values = {}, schemaFile = "./dropgate.schema.json"): string {
  const lines = renderChildren(configSchema, "", { depth: 0 }, values);
  const unused = Object.keys(values).filter((path) => !hasSetting(path));
  if (unused.length > 0) throw new TypeError(`no such setting: ${unused.join(", ")}`);
  const editorLink = `# yaml-language-server: $schema=${schemaFile}`;
  return `${[editorLink, ...head, ...lines].join("\n")}\n`;
}

function hasSetting(path: string, schema: TSchema = configSchema, at = ""): boolean {
  const [name, ...rest] = path.split(".");
  const here = joinPath(at, name ?? "");
  const child = childrenOf(schema, at).find((candidate) => candidate.path === here);
  if (child === undefined) return false;
  return rest.length === 0 || hasSetting(rest.join("."), child.schema, here);
}
