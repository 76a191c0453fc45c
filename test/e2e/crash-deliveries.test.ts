/**
 * Deliveries over kill -9, at each step of their way: never lost, delivered again only between sending and recording, always
 * with the same id and the same bytes, in the order of each stop.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mapConcurrently } from "../../src/lib/concurrency.ts";
import { company, lenient, oneParser, program, Site } from "../support/daemon.ts";
import { importLoads, outcome, post } from "../support/gateway-client.ts";
import { type Post, type Receiver, reply, startReceiver } from "../support/receiver.ts";
import { runProgram } from "../support/run-program.ts";
import { patienceMs, waitFor } from "../support/wait-for.ts";
import { killedExitCode } from "./crash-host.ts";
import { rowsOf } from "../support/site-database.ts";
import { sampled } from "../support/sampled.ts";

/** From the report of an event to the outcome of its deliveries. */
const steps = [
  "unit@report-route-event.reportRouteEvent",
  "commit@report-route-event.reportRouteEvent",
  ...["delivery.taken", "delivery.rendered", "delivery.sent"],
  "create@place-files.write",
];
/** Passed once for many, as many as have come by then: the second file of a stop goes when the first is recorded. */
const stepsOfSeveral = ["unit", "commit"].map((kind) => `${kind}@outcome-recorder.tryToWrite`);
/** Of one file alone; `crash-delivery-groups.test.ts` has them amid several. */
const stepsOfOneFile = [
  ...["write@place-files.write", "fsync@place-files.sync"],
  ...["link@place-files.giveName", "unlink@place-files.removeTemporary"],
];
const passes = [1, 4];
const deaths = sampled(
  [
    ...steps.flatMap((step) => passes.map((nth) => `${step}:${nth}`)),
    ...stepsOfSeveral.flatMap((step) => [1, 2].map((nth) => `${step}:${nth}`)),
    ...stepsOfOneFile.map((step) => `${step}:1`),
    // Once for a group, in either of two threads, each of which counts its own.
    "fsync@place-group.syncFolder:1",
  ],
  5,
);
const stopsOnLoad = 5;
const requestsAtOnce = 8;

let site: Site;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  // Slow enough that the second delivery of a stop waits behind the first.
  receiver.always((response) => void setTimeout(() => response.writeHead(200).end(), 20));
  const host = { type: "https", url: receiver.url, allowPlain: true, connections: 3 };
  site = await Site.make({
    ...{ security: lenient, inbound: oneParser },
    // An arrival causes a file of its own: two of each stop, whose order can be seen.
    companies: { [company]: { outbound: { on: [7007], targets: { outbound: { type: "folder" }, host } } } },
  });
  await site.addUser("ann", ["DI_Driver"]);
});
afterAll(async () => {
  await site.end();
  await receiver.end();
});

function loadNbrOf(death: string): string {
  return `D${deaths.indexOf(death)}`;
}

function stopNbrsOf(death: string): readonly string[] {
  return Array.from({ length: stopsOnLoad }, (_, at) => `${loadNbrOf(death)}-${at}`);
}

function report(routeNbr: string, eventCode: string, stopNbr?: string): Promise<string> {
  const geoStamp = { eventDTTM: "2026-11-05T09:00:00", eventTz: "UTC" };
  const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
  const body = { eventCode, geoStamp, routeNbr, ...data };
  return outcome(post(site, "/v5/event/route", body, { userName: "ann" }));
}

async function visit(death: string, stopNbr: string): Promise<void> {
  for (const step of ["arrival", "confirmation"])
    expect(await report(loadNbrOf(death), `stop.dropoff.${step}`, stopNbr)).toBe("200");
}

async function depart(): Promise<void> {
  const loads = deaths.map((death) => ({
    loadHeader: { loadNbr: loadNbrOf(death) },
    stops: stopNbrsOf(death).map((stopNbr) => ({ stopNbr, stopType: "DO" })),
    loadAssignment: { driverUserName: "ann" },
  }));
  await importLoads(site, loads);
  await mapConcurrently(deaths, requestsAtOnce, async (death) => {
    for (const code of ["route.initiated", "route.origin.depart"])
      expect(await report(loadNbrOf(death), code)).toBe("200");
  });
}

/** The daemon dies at the point while the stops of one load are visited; the driver does not know what was taken. */
async function dieAt(death: string): Promise<boolean> {
  const run = await site.start({ env: { DROPGATE_KILL_POINT: death } }).catch(() => undefined);
  if (run === undefined) return (await site.daemon.exit) === killedExitCode;
  const visits = stopNbrsOf(death).map((stopNbr) => visit(death, stopNbr).catch(() => undefined));
  const late = new Promise((resolve) => setTimeout(resolve, patienceMs).unref());
  await Promise.race([run.exit, late]);
  await Promise.all(visits);
  if (site.isRunning) await site.kill();
  return run.exitCode === killedExitCode;
}

interface Row {
  readonly guid: string;
  readonly name: string;
  readonly state: string;
  readonly target: string;
  readonly sha256: string;
  readonly attempts: number;
  readonly stop_nbr: string;
  readonly trigger_code: number;
}

function rows(): readonly Row[] {
  const sql = `select d.guid, d.name, d.state, t.name as target, d.sha256, d.attempts, c.stop_nbr, c.trigger_code
    from deliveries d join outbound_targets t on t.id = d.target_id join completions c on c.id = d.subject_id
    where d.kind = 'completion' order by d.id`;
  return rowsOf(site, sql);
}

const isOpen = ({ state }: Row) => state === "waiting" || state === "behind";
const sha256Of = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function checkRows(all: readonly Row[]): void {
  expect(all.filter(({ state }) => state !== "delivered")).toEqual([]);
  const wanted = deaths.flatMap((death) =>
    stopNbrsOf(death).flatMap((stopNbr) =>
      [7007, 7009].flatMap((code) => ["host", "outbound"].map((target) => `${stopNbr} ${code} ${target}`)),
    ),
  );
  const found = all.map(({ stop_nbr, trigger_code, target }) => `${stop_nbr} ${trigger_code} ${target}`);
  expect(found.sort()).toEqual(wanted.sort());
}

function checkFolder(all: readonly Row[]): void {
  const delivered = all.filter(({ target }) => target === "outbound");
  const folder = site.path("outbound");
  // What was being written at a death had a hidden name, and is gone.
  expect(readdirSync(folder).sort()).toEqual(delivered.map(({ name }) => name).sort());
  for (const { name, sha256 } of delivered) expect(sha256Of(readFileSync(join(folder, name)))).toBe(sha256);
}

function idOf({ headers }: Post): string {
  return String(headers["x-dropgate-delivery"]);
}

/** The same id, the same bytes; once each, but for what was on its way at a death. */
function checkPosts(all: readonly Row[], diedCount: number): void {
  const delivered = new Map(all.filter(({ target }) => target === "host").map((row) => [row.guid, row]));
  expect(new Set(receiver.posts.map(idOf))).toEqual(new Set(delivered.keys()));
  for (const one of receiver.posts) expect(sha256Of(one.body)).toBe(delivered.get(idOf(one))?.sha256);
  const connections = 3;
  const again = receiver.posts.length - delivered.size;
  expect(again).toBeLessThanOrEqual(diedCount * connections);
  const first = new Map<string, number>();
  for (const [at, one] of receiver.posts.entries()) if (!first.has(idOf(one))) first.set(idOf(one), at);
  const byStop = Map.groupBy(delivered.values(), ({ stop_nbr }) => stop_nbr);
  for (const [stopNbr, ofStop] of byStop) {
    const order = ofStop.toSorted((a, b) => (first.get(a.guid) ?? 0) - (first.get(b.guid) ?? 0));
    expect([stopNbr, ...order.map(({ trigger_code }) => trigger_code)]).toEqual([stopNbr, 7007, 7009]);
  }
}

test(
  "what a driver was answered goes out once, in its order, over a death at each step",
  async () => {
    await site.start();
    await depart();
    await site.stop();
    const missed: string[] = [];
    for (const death of deaths) if (!(await dieAt(death))) missed.push(death);
    await site.start();
    const visits = deaths.flatMap((death) => stopNbrsOf(death).map((stopNbr) => ({ death, stopNbr })));
    await mapConcurrently(visits, requestsAtOnce, ({ death, stopNbr }) => visit(death, stopNbr));
    await waitFor("the queue to be empty", () => rows().every((row) => !isOpen(row)));
    const all = rows();
    checkRows(all);
    checkFolder(all);
    checkPosts(all, deaths.length - missed.length);
    expect(missed).toEqual([]);
  },
  6 * patienceMs,
);

test("an export that was cut off goes out with the same bytes, its manifest last", async () => {
  if (site.isRunning) await site.stop();
  const made = await site.cli("export", "--json");
  expect(made.exitCode).toBe(0);
  const [{ name }] = JSON.parse(made.stdout) as readonly [{ name: string }];
  const manifest = name.replace(/\.xml$/, ".manifest.xml");
  for (const death of ["delivery.rendered:1", "delivery.sent:1"]) {
    await site.start({ env: { DROPGATE_KILL_POINT: death } }).catch(() => undefined);
    expect(await site.daemon.exit).toBe(killedExitCode);
  }
  const [documentBefore, manifestBefore] = [name, manifest].map((file) =>
    readFileSync(site.path("outbound", file)),
  );
  await site.start();
  const isDelivered = async () => {
    const views = await site.json<readonly { name: string; state: string }[]>("deliveries", "--limit", "1");
    return views.some((view) => view.name === name && view.state === "delivered");
  };
  await waitFor("the export to be delivered", isDelivered);
  expect(readFileSync(site.path("outbound", name))).toEqual(documentBefore);
  expect(readFileSync(site.path("outbound", manifest))).toEqual(manifestBefore);
  expect(manifestBefore?.toString()).toContain(sha256Of(documentBefore ?? Buffer.alloc(0)));
});

test("a dead delivery that was asked for again while the command died waits to be asked for", async () => {
  if (!site.isRunning) await site.start();
  receiver.always(reply(400, {}, "not like this"));
  const load = { loadHeader: { loadNbr: "X" }, stops: [{ stopNbr: "X-1" }] };
  await importLoads(site, [{ ...load, loadAssignment: { driverUserName: "ann" } }]);
  for (const code of ["route.initiated", "route.origin.depart"]) expect(await report("X", code)).toBe("200");
  expect(await report("X", "stop.dropoff.closed", "X-1")).toBe("200");
  const dead = () => rows().filter(({ state }) => state === "dead");
  await waitFor("the delivery to be dead", () => dead().length === 1);
  const [{ id }] = await site.json<readonly [{ id: number }]>("deliveries", "--state", "dead");
  const retry = ["delivery", "retry", String(id), "--config", site.configFile];
  const env = { ...process.env, DROPGATE_KILL_POINT: "unit@delivery-retry.retryAll" };
  const died = await runProgram(program, retry, { env });
  expect(died.exitCode, died.output).toBe(killedExitCode);
  expect(dead()).toHaveLength(1);
  receiver.always();
  const asked = await runProgram(program, retry);
  expect(asked.exitCode, asked.output).toBe(0);
  await waitFor("the delivery to go out", () => rows().every(({ state }) => state === "delivered"));
});
