import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../config/load-config.ts";
import type { Config } from "../../config/schema.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { checkIntegrations } from "../checks/check-integrations.ts";
import { formatIntegrationFaults, readIntegrations } from "./read-integrations.ts";

/** A configuration with one integration for each file. */
async function configured(
  files: Readonly<Record<string, string | Buffer>>,
  more = "",
): Promise<{ config: Config; folder: string }> {
  const folder = temporaryFolder();
  const path = join(folder, "dropgate.yaml");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.jsonata`), text);
  const entries = Object.keys(files).map((name) => `  ${name}: { file: ${name}.jsonata${more} }`);
  writeFileSync(path, ["integrations:", ...entries].join("\n"));
  const loaded = await loadConfig({ path, env: {}, cwd: folder });
  if (loaded.kind === "faulty") throw new Error(JSON.stringify(loaded.faults));
  return { config: loaded.config, folder };
}

async function faultsOf(text: string | Buffer): Promise<string> {
  const { config, folder } = await configured({ erp: text });
  const read = await readIntegrations(config);
  return read.kind === "read" ? "" : formatIntegrationFaults(read.faults).replaceAll(folder, "");
}

test("expressions are read with their settings; a path is relative to the configuration", async () => {
  const { config, folder } = await configured(
    { erp: "$", planner: "$$" },
    ", timeoutMs: 700, companies: [ACME]",
  );
  const read = await readIntegrations(config);
  expect(read.kind === "read" && read.integrations.get("planner")).toEqual({
    name: "planner",
    file: join(folder, "planner.jsonata"),
    expression: "$$",
    input: "json",
    timeoutMs: 700,
    maxOutputBytes: 20_000_000,
    companies: ["ACME"],
  });
});

test.each([
  [
    "a broken expression, with its place and the text around",
    '{\n  "orders": [ lines. }\n}',
    '/erp.jsonata:2:22: integrations.erp.file: cannot be used as a JSONata expression: The symbol "}" cannot be used as a unary operator, near `"orders": [ lines. }`',
  ],
  ["an empty file", " \n", "/erp.jsonata: integrations.erp.file: is empty; write the JSONata expression"],
  [
    "bytes that are no UTF-8",
    Buffer.from([0x22, 0xff, 0x22]),
    "/erp.jsonata: integrations.erp.file: is not UTF-8; save it as UTF-8",
  ],
  [
    "a file beyond all bounds",
    "1".repeat(1_000_001),
    "/erp.jsonata: integrations.erp.file: is over 1000000 bytes long",
  ],
])("%s is a fault of the configuration", async (_what, text, words) => {
  expect(await faultsOf(text)).toBe(words);
});

test("all faults are told, one a line, also of files that are not there", async () => {
  const { config } = await configured({ a: "(", b: ")" });
  const missing = {
    ...config.integrations["a"],
    file: "/nowhere/c.jsonata",
  } as Config["integrations"][string];
  const read = await readIntegrations({ integrations: { ...config.integrations, c: missing } });
  const lines = read.kind === "faulty" ? formatIntegrationFaults(read.faults).split("\n") : [];
  expect(lines).toHaveLength(3);
  expect(lines[2]).toBe("/nowhere/c.jsonata: integrations.c.file: cannot be read: there is no such file");
});

test("check tells of each integration, and of companies that nobody knows", async () => {
  const { config, folder } = await configured({ good: "$", bad: "(" }, ", companies: [acme, GONE]");
  const findings = await checkIntegrations(config, ["ACME"]);
  expect(findings.map(({ status, what }) => `${status} ${what.replaceAll(folder, "")}`)).toEqual([
    "ok the integration good compiles (/good.jsonata)",
    "warning the integration good is for company GONE, which is not registered",
    expect.stringContaining("problem /bad.jsonata:1:1: integrations.bad.file: "),
    "warning the integration bad is for company GONE, which is not registered",
  ]);
});
