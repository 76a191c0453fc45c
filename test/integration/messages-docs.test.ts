/** docs/messages.md names what there is. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { messageEvents } from "../../src/domain/messages/message-event.ts";
import { messageFieldMeanings } from "../../src/domain/messages/message-fields.ts";
import { projectFolder, textOf } from "../support/markdown.ts";

const name = "docs/messages.md";
const rows = messageFieldMeanings.map(([field, meaning]) => `| \`{{${field}}}\` | ${meaning} |`).join("\n");
const table = /(\| Name \| Value \|\n\|---\|---\|\n)[\s\S]*?(?=\n\n)/;

test("the list of placeholders is that of the program", () => {
  if (process.env["UPDATE_DOCS"] !== undefined) {
    const text = textOf(name).replace(table, (_, head: string) => head + rows);
    writeFileSync(join(projectFolder, name), text);
  }
  expect(readFileSync(join(projectFolder, name), "utf8")).toContain(rows);
});

test("each event that can be told has its row", () => {
  const text = textOf(name);
  expect(messageEvents.filter((event) => !text.includes(`\n| \`${event}\` |`))).toEqual([]);
});
