/**
 * A group of deliveries to the company's own folder over kill -9 at each of its steps: each file is not there, or there once
 * and whole; the next start finds it, and all are delivered once.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { company, lenient, oneParser, Site } from "../support/daemon.ts";
import { importLoads, outcome, post } from "../support/gateway-client.ts";
import { waitFor } from "../support/wait-for.ts";
import { killedExitCode } from "./crash-host.ts";
import { rowsOf } from "../support/site-database.ts";
import { sampled } from "../support/sampled.ts";

const steps = [
  "write@place-files.write",
  "fsync@place-files.sync",
  "link@place-files.giveName",
  "unlink@place-files.removeTemporary",
] as const;
const stopsOnLoad = 12;
/** The first file is tried alone, because the folder was not usable before; the thread counts its own passes. */
const nth = 5;

let site: Site;

beforeAll(async () => {
  site = await Site.make({
    ...{ security: lenient, inbound: oneParser },
    companies: { [company]: { outbound: { targets: { outbound: { type: "folder" } } } } },
  });
  await site.addUser("ann", ["DI_Driver"]);
});
afterAll(() => site.end());

function report(routeNbr: string, eventCode: string, stopNbr?: string): Promise<string> {
  const geoStamp = { eventDTTM: "2026-11-05T09:00:00", eventTz: "UTC" };
  const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
  return outcome(
    post(site, "/v5/event/route", { eventCode, geoStamp, routeNbr, ...data }, { userName: "ann" }),
  );
}

interface Row {
  readonly name: string;
  readonly state: string;
  readonly sha256: string | null;
  readonly stop_nbr: string;
}

function rows(): readonly Row[] {
  const sql = `select d.name, d.state, d.sha256, c.stop_nbr
    from deliveries d join completions c on c.id = d.subject_id order by d.id`;
  return rowsOf(site, sql);
}

const waiting = () => rows().filter(({ state }) => state === "waiting");
const finalNames = () => readdirSync(site.path("outbound")).filter((name) => !name.startsWith("."));

/** Deliveries of one load that all wait, because their folder cannot be used. */
async function gather(loadNbr: string): Promise<void> {
  await site.start();
  const [folder, away] = [site.path("outbound"), `${site.path("outbound")}.away`];
  renameSync(folder, away);
  writeFileSync(folder, "no folder");
  const stops = [...Array(stopsOnLoad).keys()].map((at) => `${loadNbr}-${at}`);
  await importLoads(site, [
    {
      loadHeader: { loadNbr },
      stops: stops.map((stopNbr) => ({ stopNbr, stopType: "DO" })),
      loadAssignment: { driverUserName: "ann" },
    },
  ]);
  for (const code of ["route.initiated", "route.origin.depart"])
    expect(await report(loadNbr, code)).toBe("200");
  for (const stopNbr of stops) expect(await report(loadNbr, "stop.dropoff.closed", stopNbr)).toBe("200");
  expect(waiting()).toHaveLength(stopsOnLoad);
  await site.stop();
  rmSync(folder);
  renameSync(away, folder);
}

test.each(sampled(steps, 2))("a death at %s amid a group", async (step) => {
  await gather(`L${steps.indexOf(step)}`);
  const before = new Set(finalNames());
  await site.start({ env: { DROPGATE_KILL_POINT: `${step}:${nth}` } }).catch(() => undefined);
  expect(await site.daemon.exit).toBe(killedExitCode);
  // None of the group is recorded; the first one may be.
  expect(waiting().length).toBeGreaterThanOrEqual(stopsOnLoad - 1);
  const inFolder = new Map(
    finalNames().map((name) => [name, readFileSync(site.path("outbound", name), "utf8")]),
  );
  for (const content of inFolder.values()) expect(content.trimEnd()).toMatch(/<\/StopCompletion>$/);
  const isLinked = step === "link@place-files.giveName" || step === "unlink@place-files.removeTemporary";
  expect(inFolder.size - before.size > 1).toBe(isLinked);

  await site.start();
  await waitFor("the queue to be empty", () => waiting().length === 0);
  await site.stop();
  const all = rows();
  expect(all.filter(({ state }) => state !== "delivered")).toEqual([]);
  expect(readdirSync(site.path("outbound")).sort()).toEqual(all.map(({ name }) => name).sort());
  for (const { name, sha256 } of all) {
    const bytes = readFileSync(site.path("outbound", name));
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
    expect(bytes.toString()).toBe(inFolder.get(name) ?? bytes.toString());
  }
});
