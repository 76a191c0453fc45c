/** The manual pages as groff shows them. */
import { describe, expect, test } from "vitest";
import { settingsBelow } from "../../src/config/reader/setting-list.ts";
import { configSchema } from "../../src/config/schema.ts";
import { isInstalled, runProgram } from "../../test/support/run-program.ts";
import { isGroup, listCommands, optionsOf } from "./command-list.ts";
import { renderConfigPage, renderProgramPage } from "./render-man.ts";
import { roffProse } from "./roff-text.ts";
import { hasValue } from "./setting-text.ts";

const pages = [
  ["dropgate(1)", renderProgramPage("1.2.3", 1_700_000_000)],
  ["dropgate.yaml(5)", renderConfigPage("1.2.3", 1_700_000_000)],
] as const;

async function groff(page: string, more: readonly string[]): Promise<string> {
  const { exitCode, output } = await runProgram("groff", ["-man", ...more], { input: page });
  expect(exitCode, output).toBe(0);
  return output;
}

/** In lines that nothing is broken in. */
function shown(page: string): Promise<string> {
  return groff(page, ["-Tutf8", "-P-cbou", "-rLL=2000n"]);
}

describe.skipIf(!isInstalled("groff"))("the manual", () => {
  test.each(pages)("has %s without anything that groff warns of", async (name, page) => {
    expect(await groff(page, ["-Tutf8", "-ww", "-z"])).toBe("");
    const text = await shown(page);
    expect(text).toContain("dropgate 1.2.3");
    expect(text).toContain("2023-11-14");
    expect(text.toLowerCase()).toContain(name);
  });

  test("has every command with its options, as they are typed", async () => {
    const text = await shown(renderProgramPage("1.2.3", 0));
    const commands = listCommands().filter((listed) => listed.words.length > 0 && !isGroup(listed));
    expect(commands.length).toBeGreaterThan(25);
    for (const listed of commands) {
      const usage = `   dropgate ${listed.words.join(" ")} ${listed.command.usage()}\n`;
      const [, section = ""] = text.split(usage);
      const own = section.split("\n   dropgate ")[0];
      expect(own, usage).toContain(listed.command.description());
      for (const { flags, long } of optionsOf(listed))
        if (long !== "--config") expect(own, usage).toContain(flags);
    }
    expect(text).toContain("Running it again changes nothing.");
    expect(text).toContain("--dir <dir>");
  });

  test("has every setting with its default", async () => {
    const text = await shown(renderConfigPage("1.2.3", 0));
    const settings = settingsBelow(configSchema).filter(hasValue);
    expect(settings.length).toBeGreaterThan(150);
    const terms = new Set(text.split("\n").map((line) => line.trim().split(" ")[0]));
    expect(settings.map(({ path }) => path).filter((path) => !terms.has(path))).toEqual([]);
    expect(text).toMatch(/^ +sftp\.port\n +.*\(whole number; 0 to 65535; default 2222\)$/m);
  });
});

describe("text for roff", () => {
  test.each([
    ["a -b 'c' \"d\" ~e ^f", "a \\-b \\(aqc\\(aq \\(dqd\\(dq \\(tie \\(haf"],
    ["a\\b", "a\\eb"],
    [".TH\nis no request: `.yaml`", "\\&.TH\nis no request: \\fB.yaml\\fR"],
    ["one\n\ntwo", "one\n.PP\ntwo"],
    ["SHA256:…", "SHA256:\\[u2026]"],
  ])("%j is %j", (text, roff) => expect(roffProse(text)).toBe(roff));
});
