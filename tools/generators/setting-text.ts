/** How the generated files show one setting. */
import { Document } from "yaml";
import type { SettingKeywords, SettingKind } from "../../src/config/reader/setting.ts";
import { childrenOf, type ListedSetting } from "../../src/config/reader/setting-list.ts";
import { formatSize } from "../../src/config/reader/size.ts";

/** The description, with a remark when a change waits for a restart. Sections say so themselves. */
export function descriptionWithRestart({ description = "", dropgate }: SettingKeywords): string {
  const isMarked = dropgate.needsRestart && dropgate.kind !== "section" && dropgate.kind !== "map";
  return isMarked ? `${description} A change needs a restart.` : description;
}

/** A setting's default, or else its example, as it stands behind `name: ` in YAML. */
export function shownValue({ setting }: ListedSetting): string {
  const value = setting.default ?? setting.examples?.[0];
  if (setting.dropgate.kind === "size" && typeof value === "number") return formatSize(value);
  const format = { collectionStyle: "flow", flowCollectionPadding: false, lineWidth: 0 } as const;
  return new Document(value ?? "").toString(format).trim();
}

const typeNames: Readonly<Record<SettingKind, string>> = {
  section: "section",
  map: "section",
  variants: "section",
  list: "list",
  integer: "whole number",
  age: "days or `keep`",
  flag: "true or false",
  choice: "one of",
  text: "text",
  size: "size",
  path: "path",
  host: "address",
  addressRange: "address or CIDR",
  secret: "secret",
};

export function isSection({ setting }: ListedSetting): boolean {
  return setting.dropgate.kind === "section" || setting.dropgate.kind === "map";
}

/** Sections have none of their own, and items of a list of single values are described with the list. */
export function hasValue(listed: ListedSetting): boolean {
  return !isSection(listed) && !listed.path.endsWith("[]");
}

/** What kind of value it takes. */
export function typeOf(listed: ListedSetting): string {
  const { setting, schema, path } = listed;
  const { kind } = setting.dropgate;
  if (kind === "choice") return (setting.enum ?? []).map((value) => `\`${value}\``).join(", ");
  if (kind !== "list") return typeNames[kind];
  const [item] = childrenOf(schema, path);
  return item === undefined || isSection(item) ? "list of sections" : `list of ${typeOf(item)}`;
}

/** What the value must be within its kind; empty when that is all. */
export function limitsOf({ setting }: ListedSetting): string {
  const { minimum, maximum, maxLength, maxItems, dropgate } = setting;
  if (minimum !== undefined && maximum !== undefined) {
    const show = dropgate.kind === "size" ? formatSize : String;
    return `${show(minimum)} to ${show(maximum)}`;
  }
  if (dropgate.form !== undefined) {
    return `${dropgate.form}${maxLength === undefined ? "" : `; at most ${maxLength} characters`}`;
  }
  return maxItems === undefined ? "" : `at most ${maxItems}`;
}

/** A text in lines of at most `width` characters, broken at its blanks. A longer word has a line of its own. */
export function wrapped(description: string, width: number): string[] {
  const lines = [""];
  for (const word of description.split(" ")) {
    const current = lines.at(-1) ?? "";
    if (current !== "" && current.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = current === "" ? word : `${current} ${word}`;
  }
  return lines;
}
