import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary-folder.ts";
import { waitFor } from "../../../../test/support/wait-for.ts";
import { createLogger } from "../../../lib/logs/log.ts";
import { readHeldReport, startHeldReports } from "./held-report.ts";

describe("the report of the daemon", () => {
  const log = createLogger({ level: "silent" });
  const alone = { pid: process.pid, nodes: new Map<string, string>() };
  const held = { company: "ACME", files: [], keptBack: [] };

  test("is there while there is something to tell, for those who ask about the process that wrote it", async () => {
    const stateDir = temporaryFolder();
    const stop = startHeldReports({
      shownDir: stateDir,
      current: () => ({ companies: [held], remotes: [], troubles: ["x"] }),
      log,
    });
    await waitFor("the report", async () => (await readHeldReport(stateDir, alone)) !== undefined);
    expect(await readHeldReport(stateDir, alone)).toEqual({
      ...{ companies: [held], remotes: [], troubles: ["x"] },
    });
    expect(await readHeldReport(stateDir, { ...alone, pid: process.pid + 1 })).toBeUndefined();
    expect(await readHeldReport(stateDir, { ...alone, pid: undefined })).toBeUndefined();
    await stop();
    expect(readdirSync(stateDir)).toEqual([]);
  });

  test("of each node that is there is read below the shared state directory, and of no earlier incarnation", async () => {
    const stateDir = temporaryFolder();
    for (const name of ["one", "two"]) {
      const shownDir = join(stateDir, "nodes", name);
      mkdirSync(shownDir, { recursive: true });
      const current = () => ({ companies: [{ ...held, company: name }], remotes: [], troubles: ["x"] });
      onTestFinished(startHeldReports({ shownDir, incarnation: `${name}-2`, current, log }));
    }
    const companiesOf = async (nodes: readonly [string, string][]) => {
      const report = await readHeldReport(stateDir, { pid: process.pid, nodes: new Map(nodes) });
      return report?.companies.map(({ company }) => company);
    };
    const all = [
      ["one", "one-2"],
      ["two", "two-2"],
    ] as const;
    await waitFor("both reports", async () => (await companiesOf(all.map(([...one]) => one)))?.length === 2);
    expect(
      await companiesOf([
        ["two", "two-2"],
        ["one", "one-1"],
      ]),
    ).toEqual(["two"]);
    expect(await companiesOf([["two", "two-3"]])).toBeUndefined();
  });

  test("of another run is removed when there is nothing to tell", async () => {
    const stateDir = temporaryFolder();
    writeFileSync(join(stateDir, "dropgate.held.json"), "{}");
    const stop = startHeldReports({
      shownDir: stateDir,
      current: () => ({ companies: [], remotes: [], troubles: [] }),
      log,
    });
    await waitFor("it to be gone", () => readdirSync(stateDir).length === 0);
    await stop();
  });

  test("that cannot be written is told once when it begins, and once when it ends", async () => {
    const stateDir = temporaryFolder();
    const inTheWay = join(stateDir, "dropgate.held.json.tmp");
    mkdirSync(inTheWay);
    const lines: string[] = [];
    let looks = 0;
    const stop = startHeldReports({
      shownDir: stateDir,
      current: () => {
        looks += 1;
        return { companies: [held], remotes: [], troubles: [] };
      },
      log: createLogger({ level: "info", destination: { write: (line: string) => lines.push(line) } }),
      everyMs: 1,
    });
    await waitFor("several tries", () => looks > 5);
    expect(lines.join("")).toMatch(/^[^\n]*cannot be written for[^\n]*\n$/);
    rmdirSync(inTheWay);
    await waitFor("the report", async () => (await readHeldReport(stateDir, alone)) !== undefined);
    await waitFor("the end to be told", () => lines.length > 1);
    const sofar = looks;
    await waitFor("more reports", () => looks > sofar + 3);
    await stop();
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      "the list of held files cannot be written for `dropgate explain`",
      "the list of held files can be written again",
    ]);
  });
});
