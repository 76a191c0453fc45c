/**
 * Writes a configuration file with every setting in it. Settings are commented out with `#` and no space, showing
 * their default or an example; explanations have `# ` with a space. Removing a `#` changes one setting.
 */
import type { TSchema } from "@sinclair/typebox";
import { keywordsOf, type SettingKeywords } from "../../src/config/reader/setting.ts";
import { childrenOf, type ListedSetting } from "../../src/config/reader/setting-list.ts";
import { configSchema } from "../../src/config/schema.ts";
import { descriptionWithRestart, shownValue, wrapped } from "./setting-text.ts";

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

function commented({ depth, commentedFrom = depth }: Level): Level {
  return { depth, commentedFrom };
}

function deeper(level: Level, by = 1): Level {
  return { ...level, depth: level.depth + by };
}

function renderValue(child: ListedSetting, name: string, level: Level): string[] {
  const own = `${name}: ${shownValue(child)}`;
  // As a remark: it could not stand beside what it stands for.
  const isRemark = child.setting.dropgate.isAlternative === true;
  return [...explanation(child, level), isRemark ? line(`# ${own}`, level) : line(own, commented(level))];
}

function renderContainer(child: ListedSetting, name: string, level: Level): string[] {
  const ownLevel = child.isRequired ? level : commented(level);
  const head = [...explanation(child, level), line(`${name}:`, ownLevel)];
  return [...head, ...renderChildren(child.schema, child.path, deeper(ownLevel))];
}

/** A list of sections is shown with one example item, its first setting behind the dash. */
function renderList(child: ListedSetting, name: string, level: Level, item: ListedSetting): string[] {
  const ownLevel = commented(level);
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

function renderChild(child: ListedSetting, name: string, level: Level): string[] {
  const { kind } = child.setting.dropgate;
  if (kind === "section" || kind === "map") return renderContainer(child, name, level);
  const [item] = childrenOf(child.schema, child.path);
  if (item?.setting.dropgate.kind === "section") return renderList(child, name, level, item);
  return renderValue(child, name, level);
}

function renderChildren(schema: TSchema, path: string, level: Level): string[] {
  return childrenOf(schema, path).flatMap((child) => {
    const name = nameInSample(child, path, keywordsOf(schema));
    const gap = level.depth === 0 ? [""] : [];
    return [...gap, ...renderChild(child, name, level)];
  });
}

/** Below a map stands one example under a name of the schema's choice; of variants one each, under its type. */
function nameInSample(child: ListedSetting, parentPath: string, parent: SettingKeywords): string {
  const name = child.path.slice(parentPath === "" ? 0 : parentPath.length + 1);
  return name === parent.dropgate.keyName ? String(parent.examples?.[0]) : name.replace(/^<(.+)>$/, "$1");
}

const head = [
  "# yaml-language-server: $schema=./dropgate.schema.json",
  "# Configuration of dropgate. Every setting is shown with its default, or an example where it has none;",
  "# remove the # in front of a setting to change it. Relative paths start at the folder of this file.",
  "# `dropgate check` checks the whole installation; docs/configuration.md has limits and units.",
];

/** The text of `config/dropgate.example.yaml`. */
export function renderSample(): string {
  return `${[...head, ...renderChildren(configSchema, "", { depth: 0 })].join("\n")}\n`;
}
