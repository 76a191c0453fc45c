/** How the generated files show one setting. */
import { Document } from "yaml";
import type { SettingKeywords } from "../../src/config/reader/setting.ts";
import type { ListedSetting } from "../../src/config/reader/setting-list.ts";
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
