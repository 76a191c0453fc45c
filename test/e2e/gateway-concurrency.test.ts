/**
 * 50 clients import, read, assign and cancel the same loads. Afterwards the recorded events are replayed by the table
 * of states (specification/stop-states.md#states-of-a-load): each answer that said Success must be there once, and each
 * state must follow from its events.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { http, importPartner } from "../support/clients.ts";
import { company, Site } from "../support/daemon.ts";
import { eventCodes, getJson, importFinished, importLoads, post } from "../support/gateway-client.ts";
import { sequenceOf } from "../support/random-numbers.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make({ http: { maxConnectionsPerAddress: 200 } });
  await site.addUser("ann", ["DI_Driver"]);
  await site.addUser("bob", ["DI_Driver"]);
  await site.start();
  await importPartner(site, "C1");
});
afterAll(() => site.end());

const loadNbrs = Array.from({ length: 8 }, (_, at) => `L${at}`);

type Action = "import" | "carrier" | "noCarrier" | "driver" | "noDriver" | "cancel" | "read";
const actions: readonly Action[] = ["import", "carrier", "noCarrier", "driver", "noDriver", "cancel", "read"];

interface Done {
  readonly action: Action;
  readonly loadNbr: string;
  readonly status: number;
  readonly importId?: string;
}

function loadOf(loadNbr: string, client: number) {
  const stops = [0, 1].map((at) => ({ stopNbr: `${loadNbr}-${(client + at) % 4}` }));
  return { loadHeader: { loadNbr, reference: `${client}` }, stops };
}

async function act(action: Action, loadNbr: string, client: number): Promise<Done> {
  if (action === "read") {
    const { status } = await http(site, `/v5/load/info/${loadNbr}/${company}`);
    return { action, loadNbr, status };
  }
  const driver = { driverUserName: client % 2 === 0 ? "ann" : "bob" };
  const requests = {
    import: ["/v5/load/update/default", { companyCode: company, loads: [loadOf(loadNbr, client)] }],
    carrier: [`/v5/load/assign/carrier/${loadNbr}`, { carrierCode: "C1" }],
    noCarrier: [`/v5/load/unassign/carrier/${loadNbr}`, { carrierCode: "C1" }],
    driver: [`/v5/load/assign/driver/${loadNbr}`, driver],
    noDriver: [`/v5/load/unassign/driver/${loadNbr}`, {}],
    cancel: ["/v5/load/cancel", { loadNbr, reasonCode: "R" }],
  } as const;
  const [path, body] = requests[action];
  const reply = await post(site, path, body);
  const { importId } = JSON.parse(reply.body) as { importId?: string };
  return { action, loadNbr, status: reply.status, ...(importId === undefined ? {} : { importId }) };
}

async function client(number: number): Promise<readonly Done[]> {
  const random = sequenceOf(number + 1);
  const done: Done[] = [];
  for (let step = 0; step < 12; step += 1) {
    // Cancelling is rare, or all loads would be final at once.
    const action = actions[random(actions.length)] ?? "read";
    const chosen = action === "cancel" && random(6) > 0 ? "read" : action;
    done.push(await act(chosen, loadNbrs[random(loadNbrs.length)] ?? "", number));
  }
  return done;
}

interface LoadView {
  readonly Load: {
    readonly loadExecutionInfo: { readonly loadStatus: number };
    readonly loadAssignment: { readonly carrierCode: string | null; readonly driverUserName: string | null };
    readonly stops: readonly {
      readonly stop: { readonly stopNbr: string };
      readonly stopExecutionInfo: { readonly stopStatus: string };
    }[];
  };
}

function count<T>(list: readonly T[], isCounted: (one: T) => boolean): number {
  return list.filter(isCounted).length;
}

test("no answer is lost, doubled or a 500, and every state follows from its events", async () => {
  await importLoads(
    site,
    loadNbrs.map((loadNbr) => loadOf(loadNbr, 0)),
  );
  const done = (await Promise.all(Array.from({ length: 50 }, (_, number) => client(number)))).flat();
  expect(done.filter(({ status }) => ![200, 404, 409].includes(status))).toEqual([]);
  const updated = new Map<string, number>();
  for (const { importId, loadNbr } of done) {
    if (importId === undefined) continue;
    const info = await importFinished(site, importId);
    if (info.status === "Success") updated.set(loadNbr, (updated.get(loadNbr) ?? 0) + 1);
  }
  for (const loadNbr of loadNbrs) {
    const events = await eventCodes(site, `loadNbr=${loadNbr}`);
    const succeeded = (action: Action) =>
      count(done, (one) => one.loadNbr === loadNbr && one.action === action && one.status === 200);
    expect(count(events, (code) => code === 7000)).toBe(1);
    expect(count(events, (code) => code === 7024)).toBe(updated.get(loadNbr) ?? 0);
    expect(count(events, (code) => code === 7001)).toBe(succeeded("driver"));
    expect(count(events, (code) => code === 7002)).toBe(succeeded("noDriver"));
    expect(count(events, (code) => code === 7033)).toBe(succeeded("cancel"));
    const { Load } = await getJson<LoadView>(site, `/v5/load/info/${loadNbr}/${company}`);
    const { carrierCode, driverUserName } = Load.loadAssignment;
    const isCancelled = events.includes(7033);
    // Nothing happens to a load after it was cancelled, and it had no driver then.
    if (isCancelled) expect(events.at(-1)).toBe(7033);
    const lastDriver = events.filter((code) => code === 7001 || code === 7002).at(-1);
    expect(driverUserName !== null).toBe(lastDriver === 7001);
    const planned = driverUserName !== null ? 30 : carrierCode !== null ? 20 : 10;
    expect(Load.loadExecutionInfo.loadStatus).toBe(isCancelled ? 99 : planned);
    expect(Load.stops).toHaveLength(isCancelled ? 0 : 2);
    for (const { stopExecutionInfo } of Load.stops) expect(stopExecutionInfo.stopStatus).toBe("20");
  }
  // A stop is on one load at most; those on none are unplanned.
  for (const stop of await getJson<readonly { status: string; loadId?: object }[]>(
    site,
    `/api/stop/${company}`,
  ))
    expect(stop.status).toBe(stop.loadId === undefined ? "10" : "20");
});
