/** Whatever is in the store, a completion file obeys the XSD, and says what the stop says. */
import { readFileSync } from "node:fs";
import { XmlDocument, XmlElement, XsdValidator } from "libxml2-wasm";
import { afterAll, expect, test } from "vitest";
import type { StopCompletion } from "../../domain/outbound/stop-completion.ts";
import { validateStop } from "../../domain/stop/stop.ts";
import { RandomCompletions } from "../../../test/fixtures/random-completion.ts";
import type { StopElement } from "../elements/stop-element.ts";
import { stopElements } from "../elements/stop-elements.ts";
import { renderStopCompletion } from "./stop-completion-writer.ts";

const schema = XmlDocument.fromBuffer(
  readFileSync(new URL("../../../xsd/stop-completion.xsd", import.meta.url)),
);
const validator = XsdValidator.fromDoc(schema);
afterAll(() => {
  validator.dispose();
  schema.dispose();
});

/** The text of every element and attribute, by path; several of one path in their order. */
function readBack(text: string): Map<string, string[]> {
  const document = XmlDocument.fromBuffer(Buffer.from(text));
  try {
    validator.validate(document);
    const found = new Map<string, string[]>();
    const collect = (element: XmlElement, path: string): void => {
      let hasChildren = false;
      for (let node = element.firstChild; node !== null; node = node.next) {
        if (!(node instanceof XmlElement)) continue;
        hasChildren = true;
        collect(node, `${path}/${node.name}`);
      }
      if (!hasChildren) found.set(path, [...(found.get(path) ?? []), element.content]);
    };
    collect(document.root, "");
    return found;
  } finally {
    document.dispose();
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML 1.0 forbids.
const forbidden = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

function readable(value: unknown): string {
  return String(value).replace(forbidden, "").toWellFormed();
}

function fieldOf(target: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (value, step) => (value === null ? undefined : Reflect.get(Object(value), step)),
      target,
    );
}

/** What the texts of the stop must be in the file: by path, in their order. */
function expectedTexts(elements: readonly StopElement[], target: unknown, path: string) {
  return elements.flatMap((element): (readonly [string, string])[] => {
    if (element.shape === "object") return expectedTexts(element.children, target, `${path}/${element.name}`);
    const value = fieldOf(target, element.path);
    if (element.shape === "value") {
      if (element.kind !== "text" || value === undefined || value === null || readable(value) === "")
        return [];
      return [[`${path}/${element.name}`, readable(value)]];
    }
    const items = (value ?? []) as readonly unknown[];
    const at = `${path}/${element.name}/${element.item.name}`;
    return items.flatMap((item) => expectedTexts(element.item.children, item, at));
  });
}

/** What the driver confirms of details is laid over what the host sent of them. */
const overlaid = /\/(Confirmed\/|DocumentData)/;

function grouped(pairs: readonly (readonly [string, string])[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [path, text] of pairs) groups.set(path, [...(groups.get(path) ?? []), text]);
  return groups;
}

async function check(completion: StopCompletion): Promise<Map<string, string[]>> {
  const text = await renderStopCompletion(completion, { companyCode: "ACME" });
  expect(await renderStopCompletion(structuredClone(completion), { companyCode: "ACME" })).toBe(text);
  try {
    return readBack(text);
  } catch (error) {
    throw new Error(`${String(error)}\n${text.slice(0, 2_000)}`, { cause: error });
  }
}

const rounds = 1_500;

test(`${rounds} completions of stops that imports let through obey the XSD, and every text comes out as it went in`, async () => {
  const random = new RandomCompletions(20_261_105);
  let texts = 0;
  for (let round = 0; round < rounds; round++) {
    const completion = random.next();
    expect(validateStop(completion.stop, "stop")).toEqual([]);
    const found = await check(completion);
    const expected = grouped(expectedTexts(stopElements, completion.stop, ""));
    for (const [path, wanted] of expected) {
      if (overlaid.test(path)) continue;
      expect(found.get(path), path).toEqual(wanted);
      texts += wanted.length;
    }
    expect(found.get("/Events/Event/EventId") ?? []).toEqual(
      completion.events.map(({ eventId }) => String(eventId)),
    );
    expect(found.get("/Execution/StopStatus")).toEqual([completion.stopStatus]);
    expect(found.get("/TriggeredByEvent")).toEqual([String(completion.triggeredBy)]);
  }
  expect(texts).toBeGreaterThan(rounds * 10);
});

test(`${rounds} completions of stops that no import would let through obey the XSD all the same`, async () => {
  const random = new RandomCompletions(4_711);
  for (let round = 0; round < rounds; round++) await check(random.nextBroken());
});
