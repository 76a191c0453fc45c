/** What docs/integrations.md and the samples say of expressions and of XML is what happens. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { readXmlValue } from "../../src/documents/reading/read-xml-value.ts";
import { compileExpression } from "../../src/integrations/compile-expression.ts";
import { mapBody } from "../../src/integrations/map-body.ts";
import { blocksIn } from "../support/markdown.ts";

const samples = resolve(import.meta.dirname, "../../config/samples/integrations");
const blocks = blocksIn("docs/integrations.md");

function blockOf(language: string): string {
  return blocks.find((block) => block.language === language)?.text ?? "";
}

test("the XML of the document is read into the JSON beside it", () => {
  const read = readXmlValue(Buffer.from(blockOf("xml")));
  expect(JSON.parse(JSON.stringify(read))).toEqual({ kind: "read", value: JSON.parse(blockOf("json")) });
});

test.each([
  ["Route.`@id`", "R-1"],
  ["[Route.Delivery.$text($)]", ["", "leave at door"]],
  ["$text(Route.Depot)", "Hamburg"],
  ["Route.`#elements`.name", ["Delivery", "Pickup", "Delivery", "Depot", "Note"]],
  ["$count(Route.*)", 6],
])("%s works on it as the document says", async (expression, expected) => {
  const integration = { expression, input: "xml", timeoutMs: 5_000, maxOutputBytes: 10_000 } as const;
  const job = {
    serviceName: "x",
    companyCode: "ACME",
    importKind: "loads",
    maxDepth: 32,
    integration,
  } as const;
  const outcome = await mapBody({ ...job, bytes: Buffer.from(blockOf("xml")) });
  expect(outcome.kind === "mapped" ? JSON.parse(outcome.text) : outcome.faults).toEqual(expected);
});

test("each sample expression compiles, and has a body beside it", () => {
  const names = readdirSync(samples);
  const expressions = names.filter((name) => name.endsWith(".jsonata"));
  expect(expressions).toHaveLength(2);
  for (const name of expressions) {
    const text = readFileSync(join(samples, name), "utf8");
    expect(compileExpression(text, { timeoutMs: 5_000 }).kind, name).toBe("compiled");
    expect(names.filter((other) => other.startsWith(name.replace("jsonata", "")))).toHaveLength(2);
  }
});
