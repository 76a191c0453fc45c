/** `dropgate simulate`: the real command against the real daemon. What it plans is tested in tools/simulator. */
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { http } from "../support/clients.ts";
import { company, type LogLine, program, Site, user } from "../support/daemon.ts";
import { eventCodes, getJson } from "../support/gateway-client.ts";
import { type ProgramResult, runProgram, type RunOptions } from "../support/run-program.ts";
import type { DayReport } from "../../tools/simulator/play-day.ts";

const date = "2026-11-05";

let site: Site;

beforeAll(async () => {
  site = await Site.make({ security: { wrongPasswordDelayMs: 0 } });
  for (const name of ["ann", "bob"]) await site.addUser(name, ["DI_Driver"]);
  await site.start();
});
afterAll(() => site.end());

function simulate(args: readonly string[], options: RunOptions = {}): Promise<ProgramResult> {
  const target = ["--url", site.http, "--company", company, "--user", user];
  return runProgram(program, ["simulate", ...target, "--date", date, ...args], options);
}

const withPassword = () => ["--password-file", site.passwordFile];
const drivers = ["--driver", "ann", "--driver", "bob"];

interface LoadDetail {
  readonly Load: {
    readonly loadExecutionInfo: { readonly loadStatus: number };
    readonly stops: readonly { readonly stopExecutionInfo: { readonly stopStatus: string } }[];
  };
}

describe("a day of three loads", () => {
  test("is played, answered as planned, and is then what the gateway tells", async () => {
    const { exitCode, stdout, output } = await simulate([
      ...withPassword(),
      ...drivers,
      ...["--loads", "3", "--stops", "6", "--json"],
    ]);
    expect(exitCode, output).toBe(0);
    const report = JSON.parse(stdout) as DayReport;
    expect(report).toMatchObject({
      isAsPlanned: true,
      loads: { planned: 3, completed: 3 },
      stops: { planned: 18 },
      refusalCount: 0,
      differences: [],
    });
    expect(Object.keys(report.answers)).toEqual(["200"]);
    expect(report.requestsByKind).toMatchObject({ loadImport: 1, loadDetail: 3 });
    const numbers = ["S1-261105-0001", "S1-261105-0002", "S1-261105-0003"];
    const loads = await Promise.all(
      numbers.map((number) => getJson<LoadDetail>(site, `/v5/load/info/${number}/${company}`)),
    );
    expect(loads.map(({ Load }) => Load.loadExecutionInfo.loadStatus)).toEqual([90, 90, 90]);
    const statuses = loads.flatMap(({ Load }) => Load.stops.map((stop) => stop.stopExecutionInfo.stopStatus));
    expect(statuses.filter((status) => status === "90").length).toBe(report.stops.completed);
    expect(statuses.filter((status) => status === "80").length).toBe(report.stops.closed);
    expect(statuses.length).toBe(18);
    const codes = await eventCodes(site, `loadNbr=${numbers[0]}`);
    expect([codes.at(0), codes.filter((code) => code === 7004), codes.includes(7005)]).toEqual([
      7000,
      [7004],
      true,
    ]);
  });

  test("cannot be played a second time, and says so", async () => {
    const again = await simulate([...withPassword(), ...drivers, "--loads", "3", "--stops", "6"]);
    expect(again.exitCode).toBe(1);
    expect(again.output).toContain("all 3 loads of this day are done already (seed 1, 2026-11-05");
    expect(again.output).toContain("Give another seed, date or prefix.");
  });

  test("with another prefix, by the drivers themselves, with wrong reports: each is refused as planned", async () => {
    const { exitCode, output } = await simulate([
      ...[...withPassword(), ...drivers, "--driver-password-file", join(site.folder, "password-ann")],
      ...["--loads", "3", "--prefix", "own", "--faults", "--gps-seconds", "600"],
    ]);
    expect(exitCode, output).toBe(0);
    expect(output).toMatch(/^Played +3 of 3 loads in [\d.]+ s: \d+ stops completed, \d+ closed$/m);
    expect(output).toMatch(/^Answers .*409 98/m);
    expect(output).toMatch(/^Verified +3 loads: all as planned$/m);
    expect((await http(site, `/v5/load/info/own-0003/${company}`)).status).toBe(200);
  });

  test("ends at Ctrl-C with what was done up to then", async () => {
    const before = new Set(site.daemon.log);
    const isReport = (line: LogLine) => !before.has(line) && String(line["path"]).startsWith("/v5/event/");
    const run = simulate([...withPassword(), ...drivers, "--prefix", "slow", "--speed", "60"], {
      onStart: (child) => {
        void site.daemon.waitForLog(isReport).then(() => child.kill("SIGINT"));
      },
    });
    const { exitCode, output } = await run;
    expect(exitCode, output).toBe(1);
    expect(output).toContain("Interrupted; up to then:\nPlayed ");
  });
});

describe("what cannot be played is said clearly", () => {
  test("without drivers: which to add", async () => {
    const { exitCode, output } = await simulate([...withPassword(), "--prefix", "none", "--loads", "5"]);
    expect(exitCode).toBe(1);
    expect(output).toContain("driverUserName driver: there is no enabled driver of it.");
    expect(output).toContain(`dropgate user add driver --company ${company} --role DI_Driver`);
  });

  test("a wrong password", async () => {
    const env = { ...process.env, DROPGATE_PASSWORD: "not-the-password" };
    const { exitCode, output } = await simulate(drivers, { env });
    expect(exitCode).toBe(1);
    expect(output).toContain(
      "dropgate: the gateway refuses the host's user with 401: The user name, password",
    );
    expect(output).not.toContain("not-the-password");
  });

  test("no password", async () => {
    const { DROPGATE_PASSWORD: _unset, ...env } = process.env;
    const { exitCode, output } = await simulate(drivers, { env });
    expect(exitCode).toBe(2);
    expect(output).toContain("name its file with --password-file, or set DROPGATE_PASSWORD");
  });

  test("no daemon", async () => {
    const args = ["simulate", "--company", company, "--user", user, ...withPassword()];
    const { exitCode, output } = await runProgram(program, [...args, "--url", "http://127.0.0.1:1"]);
    expect(exitCode).toBe(1);
    expect(output).toContain("dropgate: http://127.0.0.1:1 does not answer: connect ECONNREFUSED");
    expect(output).toContain("Start the daemon, or name its address.");
  });

  test("without the simulator: the remedy, and all else works", async () => {
    const home = join(site.folder, "without-tools");
    await mkdir(home);
    const project = resolve(import.meta.dirname, "../..");
    for (const name of ["bin", "dist", "package.json"])
      await cp(join(project, name), join(home, name), { recursive: true });
    await symlink(join(project, "node_modules"), join(home, "node_modules"));
    const own = join(home, "bin/dropgate");
    const { exitCode, output } = await runProgram(own, [
      ...["simulate", "--url", site.http, "--company", company, "--user", user],
      ...withPassword(),
    ]);
    expect(exitCode, output).toBe(2);
    expect(output).toContain(`the simulator is not built: run 'npm ci && npm run build' in ${home}`);
    expect((await runProgram(own, ["--help"])).output).toContain("simulate");
  });

  test("a configuration whose port is any", async () => {
    const file = join(site.folder, "any-port.yaml");
    await writeFile(file, "http:\n  port: 0\n");
    const args = ["simulate", "--company", company, "--user", user, ...withPassword(), "--config", file];
    const { exitCode, output } = await runProgram(program, args);
    expect(exitCode).toBe(2);
    expect(output).toContain("name it with --url");
  });
});
