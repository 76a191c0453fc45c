/** docs/http-api.md, command by command against the real program: each answer is the one that it shows. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { configSchema } from "../../src/config/schema.ts";
import { settingsBelow } from "../../src/config/reader/setting-list.ts";
import type { Route } from "../../src/endpoints/http/server/route.ts";
import { routes } from "../../src/endpoints/http/routes.ts";
import { http } from "../support/clients.ts";
import { type Settings, Site } from "../support/daemon.ts";
import {
  asDocumented,
  type CommandRunner,
  createCommandRunner,
  type DocumentedCommand,
  documentedCommands,
  type Matching,
  type Ran,
  statusOfAnswer,
} from "../support/documented-commands.ts";
import { reasonCodes } from "../support/gateway-client.ts";
import { blocksIn, proseOf } from "../support/markdown.ts";

const document = "docs/http-api.md";
const commands = documentedCommands(blocksIn(document));

let site: Site;
let runner: CommandRunner;

beforeAll(async () => {
  const [sample] = blocksIn("docs/appointments.md").filter(({ language }) => language === "yaml");
  const settings = parse(sample?.text ?? "") as Settings;
  site = await Site.make({ security: { wrongPasswordDelayMs: 0 }, ...settings });
  await site.mustRun("company", "add", "DEMO");
  await site.addUser("demo", ["DI_Integration"], "DEMO");
  await writeFile(join(site.folder, "demo.password"), site.password);
  await site.start();
  runner = await createCommandRunner(site);
});
afterAll(() => site.end());

/** Lines of the document stand in the answer in this order; the answer may have others between. */
function linesAsDocumented(found: string, documented: string): string {
  const lines = documented.trimEnd().split("\n");
  let next = 0;
  for (const line of found.replaceAll("\r", "").split("\n")) if (line === lines[next]) next += 1;
  return next === lines.length ? documented : found;
}

function checkAnswer({ answer }: DocumentedCommand, { stdout, statuses }: Ran, matching: Matching): void {
  if (answer?.language === "json") {
    const [documented, found]: unknown[] = [JSON.parse(answer.text), JSON.parse(stdout)];
    expect(asDocumented(found, documented, matching)).toEqual(documented);
    expect(statuses).toEqual([statusOfAnswer(documented)]);
    return;
  }
  if (statuses.length > 0) expect(statuses).toEqual([200]);
  if (answer?.language === "xml") expect(stdout.trimEnd()).toBe(answer.text.trimEnd());
  if (answer?.language === "text") expect(linesAsDocumented(stdout, answer.text)).toBe(answer.text);
}

interface DocumentedRequest {
  readonly method: string;
  readonly path: string;
}

function requestsIn(command: string): DocumentedRequest[] {
  const method = /\s(-d|--data-binary)\s/.test(command) ? "POST" : "GET";
  return [...command.matchAll(/\$H(\/[^\s"?]*)/g)].map(([, path = ""]) => ({ method, path }));
}

function isAmong(requests: readonly DocumentedRequest[], { path, method, version }: Route): boolean {
  const mounted = version === "none" ? path : `/${version}${path}`;
  const form = new RegExp(`^${mounted.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  return requests.some((request) => request.method === method && form.test(request.path));
}

/** The code with which an import is refused. */
async function refusalOf(entity: "load" | "stop", lists: Readonly<Record<string, unknown>>): Promise<string> {
  const reply = await http(site, `/v5/${entity}/update/default/DEMO`, {
    userName: "demo",
    body: JSON.stringify({ companyCode: "DEMO", ...lists }),
    type: "application/json",
  });
  return String(reasonCodes(reply)[0]);
}

describe(document, () => {
  test.each(commands)("tells the truth: $command", async (documented) => {
    const ran = await runner.run(documented.command);
    expect(ran.exitCode, ran.output).toBe(0);
    checkAnswer(documented, ran, runner.matching);
  });

  test("shows an answer for each request but those whose answer is long or no text", () => {
    const silent = commands.filter(({ command, answer }) => command.includes("curl") && answer === undefined);
    expect(silent.map(({ command }) => command)).toEqual(["curl $H/metrics\n", "curl $H/openapi.json\n"]);
  });

  test("has an answer in each block that is no command", () => {
    const answers = commands.filter(({ answer }) => answer !== undefined).length;
    expect(blocksIn(document).length).toBe(commands.length + answers);
  });

  test("walks through every operation", () => {
    const requests = commands.flatMap(({ command }) => requestsIn(command));
    const missing = routes.filter(
      (route) => !/^(apiPage|consoleAsset)/.test(route.name) && !isAmong(requests, route),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  test("names the reason beyond each limit", async () => {
    const limits = { maxLoads: 1, maxEntries: 1, maxBodyBytes: 1_000, maxJsonDepth: 8, maxJsonValues: 100 };
    await site.stop();
    await site.reconfigure({ http: { ...limits, unknownFields: "refuse" } });
    await site.start();
    const stop = { stopNbr: "1" };
    const load = { loadHeader: { loadNbr: "1" } };
    const beyond: Readonly<Record<string, string>> = {
      "http.maxLoads": await refusalOf("load", { loads: [load, load] }),
      "http.maxEntries": await refusalOf("stop", { stops: [stop, stop] }),
      "http.maxBodyBytes": await refusalOf("stop", { stops: [stop], bol: "x".repeat(1_000) }),
      "http.maxJsonDepth": await refusalOf("stop", { stops: [[[[[[[[[]]]]]]]]] }),
      "http.maxJsonValues": await refusalOf("stop", { stops: [{ ...stop, x: Array(99).fill(0) }] }),
      "http.unknownFields": await refusalOf("stop", { stops: [{ ...stop, colour: "green" }] }),
    };
    for (const [setting, code] of Object.entries(beyond)) {
      const [, told = ""] =
        new RegExp(`^\\| \`${setting}\` .*?\\b(9\\d\\d)\\b`, "m").exec(proseOf(document)) ?? [];
      expect(`${setting} ${told}`).toBe(`${setting} ${code}`);
    }
  });

  test("gives the defaults of the limits", () => {
    const rows = [...proseOf(document).matchAll(/^\| `(http\.\w+)` \| (\w+) \|/gm)];
    expect(rows.length).toBeGreaterThan(4);
    const defaults = new Map(
      settingsBelow(configSchema).map(({ path, schema }) => [path, String(schema["default"])]),
    );
    for (const [, path = "", value] of rows) expect([path, value]).toEqual([path, defaults.get(path)]);
  });
});
