/** The documents say only what the program does: links, commands, settings, samples, reasons. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ParseOption, XmlDocument, XsdValidator } from "libxml2-wasm";
import { describe, expect, test } from "vitest";
import { runCli } from "../../src/cli/run-cli.ts";
import { formatConfigFaults } from "../../src/config/reader/config-fault.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { configSchema } from "../../src/config/schema.ts";
import { settingsBelow } from "../../src/config/reader/setting-list.ts";
import { readStopDocument } from "../../src/documents/reading/read-stop-document.ts";
import { functionElement, stopElements } from "../../src/documents/elements/stop-elements.ts";
import {
  fieldNameOf,
  type StopElement,
  type ValueElement,
} from "../../src/documents/elements/stop-element.ts";
import { valueKinds } from "../../src/documents/elements/value-kinds.ts";
import { maxLengthOf } from "../../src/domain/fields/field-limits.ts";
import { routes } from "../../src/endpoints/http/routes.ts";
import { errorCatalogue, reasonCodeOf } from "../../src/lib/errors.ts";
import {
  anchorsIn,
  type Block,
  blocksIn,
  markdownIn,
  projectFolder,
  proseOf,
  spansIn,
  textOf,
} from "../support/markdown.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const names = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...markdownIn("docs")];

function brokenLinksIn(name: string): string[] {
  const targets = [...proseOf(name).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => {
    if (/^https?:/.test(target)) return false;
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? name : join(dirname(name), path);
    if (!existsSync(join(projectFolder, file))) return true;
    return anchor !== undefined && !anchorsIn(file).has(anchor);
  });
}

/** `dropgate …` as it stands in the code of a document, one command each. */
function commandsIn(name: string): string[] {
  const shell = blocksIn(name).filter(({ language }) => language === "sh");
  const lines = shell.flatMap(({ text }) => text.split("\n")).flatMap((line) => line.split(/&&|;/));
  return [...spansIn(name), ...lines]
    .map((line) => line.trim())
    .filter((line) => /^(\S*\/)?(bin\/)?dropgate [a-z-]/.test(line));
}

async function helpOf(words: readonly string[]): Promise<string> {
  let text = "";
  const output = { write: (piece: string) => (text += piece) };
  await runCli([...words, "--help"], { env: {}, cwd: projectFolder, stdout: output, stderr: output });
  return text;
}

/** What is wrong with a command of a document: no such command, or no such option. */
async function faultOfCommand(line: string): Promise<string | undefined> {
  const [, ...words] = line.split(/\s+/);
  const [first = "", second = ""] = words;
  let help = await helpOf(first.startsWith("-") ? [] : [first]);
  if (!first.startsWith("-") && !help.includes(`Usage: dropgate ${first} `)) return `${line}: no ${first}`;
  const isAlone = /^(-|$)/.test(second) && help.includes("--json");
  if (/^Commands:/m.test(help) && !first.startsWith("-") && !isAlone) {
    help = await helpOf([first, second]);
    if (!help.includes(`Usage: dropgate ${first} ${second} `)) return `${line}: no ${first} ${second}`;
    if (/^Commands:/m.test(help)) help = await helpOf(words.slice(0, 3));
  }
  const unknown = words.filter((word) => word.startsWith("--") && !help.includes(word));
  return unknown.length > 0 ? `${line}: no ${unknown.join(" ")}` : undefined;
}

const settings = new Set(settingsBelow(configSchema).map(({ path }) => path));
const inSections = [...settings].filter((path) => path.includes("."));
const sections = new Set(inSections.map((path) => path.split(".")[0] ?? ""));

/** Code spans such as `http.trustedProxies` or `http.legacyStatus: mapped`. */
function settingsNamedIn(name: string): string[] {
  return spansIn(name)
    .map((span) => span.replace(/: .*$/, ""))
    .filter((span) => /^[a-z]+(\.[A-Za-z<>[\]]+)+$/.test(span))
    .filter((span) => sections.has(span.split(".")[0] ?? ""));
}

function isStopSample({ language, text }: Block): boolean {
  return language === "xml" && /<Stops?>/.test(text);
}

function isReceipt({ language, text }: Block): boolean {
  return language === "xml" && /<StopResponse[ >]/.test(text);
}

function schemaFaultsOf(xml: string, schemaName: string): string[] {
  const option = ParseOption.XML_PARSE_NONET;
  const schema = XmlDocument.fromBuffer(readFileSync(join(projectFolder, "xsd", schemaName)), { option });
  const validator = XsdValidator.fromDoc(schema);
  const document = XmlDocument.fromString(xml, { option });
  try {
    validator.validate(document);
    return [];
  } catch (error) {
    return [String(error)];
  } finally {
    document.dispose();
    validator.dispose();
    schema.dispose();
  }
}

/** Codes named in the sources that give a file its reasons. That of a service which is stopping never gets to a file. */
function codesOfFiles(): number[] {
  const folder = "src/documents";
  const files = [
    ...readdirSync(join(projectFolder, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .map((name) => join(folder, name)),
    "src/inbound/lanes/decide-file.ts",
    "src/inbound/lanes/lane-runner.ts",
    "src/operations/stops/apply-stop-changes.ts",
    "src/domain/stop/stop-status.ts",
  ];
  const sources = files.map(textOf).join("\n");
  const named = Object.keys(errorCatalogue).filter((code) => sources.includes(`"${code}"`));
  return named
    .map((code) => reasonCodeOf(code as keyof typeof errorCatalogue))
    .filter((code) => code !== reasonCodeOf("overloaded"));
}

/** A value's kind in words; of text its maximum length. */
function valueText(element: ValueElement): string {
  if (element.kind === "text" || element.kind === "identifier") {
    return `text, at most ${maxLengthOf(fieldNameOf(element.path))}`;
  }
  return valueKinds[element.kind].expected;
}

function row(path: string, element: ValueElement): string {
  const { name, path: field, about, attribute, isRequired } = element;
  const required = isRequired === true ? "**Required.** " : "";
  const unit = attribute === undefined ? "" : ` Attribute \`${attribute.name}\`: \`${attribute.path}\`.`;
  return `| \`${path}${name}\` | \`${field}\` | ${valueText(element)} | ${required}${about}${unit} |`;
}

function rowsOf(element: StopElement, path = ""): string[] {
  if (element.shape === "value") return [row(path, element)];
  if (element.shape === "object") {
    return element.children.flatMap((child) => rowsOf(child, `${path}${element.name}/`));
  }
  const { item } = element;
  const below = `${path}${element.name}/`;
  const own = item.content === undefined ? [] : [row(below, { ...item.content, name: item.name })];
  return [...own, ...item.children.flatMap((child) => rowsOf(child, `${below}${item.name}/`))];
}

function tableOf(elements: readonly StopElement[]): string {
  const head = ["| Element | Field | Value | What it is |", "|---|---|---|---|"];
  return [...head, ...elements.flatMap((element) => rowsOf(element))].join("\n");
}

/** `docs/stop-elements.md`. */
function renderElements(): string {
  const details = stopElements.filter(({ name }) => name === "StopDetails");
  const others = stopElements.filter(({ name }) => name !== "StopDetails");
  return `# Elements of the stop file

<!-- Generated from src/documents/elements/stop-elements.ts: UPDATE_DOCS=1 npm test -- test/integration/docs.test.ts -->

The children of \`Stop\` in [stop files](file-exchange.md), in any order, each at most once; \`xsd/stop.xsd\` says the same
to programs. *Field* is where the value stands in the JSON of the stop; fields in lists begin at the entry of the list.
Lengths are in characters. An empty element counts as missing, but for text, which is then empty. A path such as
\`Comments/Comment\` is an element within an element; \`Comment\` may stand there several times.

[What holds for JSON](http-api.md#what-holds-for-every-import) holds here too: a date-time with \`Z\` or an offset is an
instant, which becomes local in the time zone beside it (904 where none stands), numbers and codes lose blanks at both
ends, amounts are 0 or more and coordinates in their range (902), and no window ends before it begins (904).

## Stop

${tableOf([functionElement, ...others])}

## StopDetails

${tableOf(details)}
`;
}

describe("the documents", () => {
  test.each(names)("%s has no broken link", (name) => expect(brokenLinksIn(name)).toEqual([]));

  test.each(names)("%s names only files of the project that are there", (name) => {
    const paths = spansIn(name).filter((span) => /^(src|test|bench|bin|xsd|systemd)\/[\w./-]+$/.test(span));
    expect(paths.filter((path) => !existsSync(join(projectFolder, path)))).toEqual([]);
  });

  test.each(names)("%s has no line of prose over 120 characters", (name) => {
    const lines = proseOf(name)
      .split("\n")
      .filter((line) => !line.trimStart().startsWith("|"));
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  });

  test("README.md has at most 150 lines", () => {
    expect(textOf("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  });

  test.each(names)("%s names only commands and options that exist", async (name) => {
    const faults = await Promise.all(commandsIn(name).map(faultOfCommand));
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  });

  test("are searched for commands and settings, and some are found", () => {
    expect(names.flatMap(commandsIn).length).toBeGreaterThan(20);
    expect(names.flatMap(settingsNamedIn).length).toBeGreaterThan(20);
  });

  test.each(names)("%s names only settings that exist", (name) => {
    expect(settingsNamedIn(name).filter((path) => !settings.has(path))).toEqual([]);
  });

  test("list every operation that is served over HTTP", () => {
    const text = textOf("docs/http-api.md");
    const operations = routes.filter(({ path }) => !path.startsWith("/console/"));
    expect(operations.filter(({ path }) => !text.includes(path)).map(({ name }) => name)).toEqual([]);
  });

  test("docs/stop-elements.md is what the table of elements says", () => {
    const file = join(projectFolder, "docs/stop-elements.md");
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, renderElements());
    expect(readFileSync(file, "utf8")).toBe(renderElements());
  });
});

describe.each([
  ["docs/glossary.md", 30],
  ["docs/architecture.md", 20],
])("%s", (name, atLeast) => {
  test("names what its file defines", () => {
    const rows = [...textOf(name).matchAll(/^\|.*\| `(\w+)` in `(src\/[\w/.-]+)` \|$/gm)];
    const missing = rows.filter(([, defined, file = ""]) => {
      return !new RegExp(`^(export )?(async )?(class|const|function|interface|type) ${defined}\\b`, "m").test(
        textOf(file),
      );
    });
    expect(rows.length).toBeGreaterThan(atLeast);
    expect(missing.map(([row]) => row)).toEqual([]);
  });
});

describe("the samples in the documents", () => {
  const all = names.flatMap((name) => blocksIn(name).map((block) => ({ ...block, name })));

  test.each(all.filter(isStopSample))("the stop file in $name is valid: $text", ({ text }) => {
    const outcome = readStopDocument(Buffer.from(text));
    expect(outcome.kind === "refused" ? outcome.faults : []).toEqual([]);
  });

  test.each(all.filter(isReceipt))("the receipt in $name obeys its XSD: $text", ({ text }) => {
    expect(schemaFaultsOf(text, "stop-response.xsd")).toEqual([]);
  });

  test.each(all.filter(({ language }) => language === "json"))("the JSON in $name is JSON", ({ text }) => {
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  describe("of the configuration", () => {
    test.each(all.filter(({ language }) => language === "yaml"))(
      "in $name loads: $text",
      async ({ text }) => {
        const folder = temporaryFolder();
        const path = join(folder, "dropgate.yaml");
        writeFileSync(path, text);
        for (const [, secret = ""] of text.matchAll(/^store: file:(\S+)$/gm))
          writeFileSync(join(folder, secret), "postgres://dropgate@localhost/dropgate\n", { mode: 0o600 });
        const loaded = await loadConfig({ path, env: {}, cwd: folder });
        expect(loaded.kind === "faulty" ? formatConfigFaults(loaded.faults) : "").toBe("");
      },
    );
  });

  test("the file exchange has a sample of each Function, and one of several stops", () => {
    const samples = blocksIn("docs/file-exchange.md")
      .filter(isStopSample)
      .map(({ text }) => text);
    for (const code of ["01", "02", "03"]) {
      expect(samples.some((text) => text.includes(`<Stop>\n  <Function>${code}<`))).toBe(true);
    }
    expect(samples.some((text) => text.includes("<Stops>"))).toBe(true);
  });
});

describe("docs/file-exchange.md", () => {
  test("has each reason that a file can get, with what to do and the error of a receipt", () => {
    const text = textOf("docs/file-exchange.md");
    const codes = codesOfFiles();
    expect(codes.length).toBeGreaterThan(10);
    expect(codes.filter((code) => !text.includes(`\n| ${code} |`))).toEqual([]);
    expect(codes.filter((code) => !text.includes(`\n${code}  <Error ErrorMsgID="${code}"`))).toEqual([]);
  });
});
