/** Proof that comes after the step it belongs to: documents, exceptions and quantities of late and repeated events. */
import { beforeEach, describe, expect, test } from "vitest";
import { outboundCopyOf } from "../../src/app/daemon/outbound-settings.ts";
import type { RouteEventCode } from "../../src/domain/execution/route-event-rules.ts";
import { saveOutboundCopy } from "../../src/store/outbound/outbound-targets.ts";
import { readEventList } from "../../src/operations/stops/event-list.ts";
import { codeOf } from "../support/gateway-store.ts";
import { configOf } from "../support/message-site.ts";
import { both, dropoff, other, pickup, RouteDriver, timeAt } from "../support/route-driver.ts";

let route: RouteDriver;

beforeEach(async () => {
  route = await RouteDriver.open();
});

function photo(name: string) {
  return { documentName: name, documentType: "PHOTO", documentData: Buffer.from(name).toString("base64") };
}

const namesOf = async (stopNbr: string) =>
  ((await route.site.stop(stopNbr)).stop.documents ?? []).map(
    ({ documentName }: { documentName: string }) => documentName,
  );
const exceptionsOf = async (stopNbr: string) => (await route.execution(stopNbr)).exceptions;
const at = (stopNbr: string, minutes: number, data: object = {}) => ({ stopNbr, at: minutes, data });
const details = [{ stopDetailSeq: 1, productIdentifier: "A", quantity: 4 }];

/** What GET tells of the first detail. */
const confirmedOf = async (stopNbr: string) => (await route.site.stop(stopNbr)).stop.stopDetails[0].confirmed;

async function completionsOf(stopNbr: string): Promise<readonly number[]> {
  const rows = await route.site.store.read
    .selectFrom("completions")
    .select(["id", "trigger_code"])
    .where("stop_nbr", "=", stopNbr)
    .orderBy("id")
    .execute();
  return rows.map(({ trigger_code }) => trigger_code);
}

async function deliverOn(...on: readonly number[]): Promise<void> {
  const config = await configOf({ outbound: { on } });
  const company = { id: route.site.companyId, code: "ACME" };
  await route.site.store.write("site", (tx) => saveOutboundCopy(tx, outboundCopyOf(config, company)));
}

describe("a departure that is reported after an automatic one", () => {
  test.each([
    ["drop-off", { ...dropoff, stopDetails: details }, "stop.dropoff"],
    ["pickup of a stop with a drop-off", { ...both, stopNbr: "D1", stopDetails: details }, "stop.pickup"],
    ["pickup only", { ...pickup, stopNbr: "D1", stopDetails: details }, "stop.pickup"],
  ] as const)("keeps what it brings, at the %s", async (_what, stop, party) => {
    await route.load([stop, other]);
    await route.depart();
    const confirmation = { autoDepart: true, stopDetails: [{ stopDetailSeq: 1, confirmedQty: 4 }] };
    await route.report(`${party}.confirmation`, at("D1", 30, confirmation));
    await route.site.events();
    const before = await route.execution("D1");
    const data = {
      documents: [photo("a.jpg")],
      exceptionCode: "DMG",
      stopDetails: [{ stopDetailSeq: 1, confirmedQty: 3, exceptionReasonCode: "DMG" }],
    };
    await route.report(`${party}.departure`, at("D1", 35, data));
    expect(await route.site.events()).toEqual([7014]);
    expect(await namesOf("D1")).toEqual(["a.jpg"]);
    expect(await confirmedOf("D1")).toEqual({ confirmedQty: 3, exceptionReasonCode: "DMG" });
    const after = await route.execution("D1");
    expect(after).toEqual({ ...before, exceptionPresent: true, exceptions: [{ exceptionCode: "DMG" }] });
  });

  test("keeps it also when the load is completed, and once, however often it comes", async () => {
    await route.load([dropoff]);
    await route.depart();
    await route.report("stop.dropoff.confirmation", at("D1", 30, { autoDepart: true }));
    expect(await route.loadStatus()).toBe(90);
    await route.site.events();
    const data = { documents: [photo("a.jpg")], exceptionCode: "LATE" };
    for (const minute of [35, 35, 36]) await route.report("stop.dropoff.departure", at("D1", minute, data));
    expect(await route.site.events()).toEqual([7014]);
    expect(await namesOf("D1")).toEqual(["a.jpg"]);
    expect(await exceptionsOf("D1")).toEqual([{ exceptionCode: "LATE" }]);
  });

  test("keeps it for a stop that was closed", async () => {
    await route.load([dropoff, other]);
    await route.depart();
    await route.report("stop.dropoff.arrival", at("D1", 20));
    await route.report("stop.dropoff.closed", at("D1", 30, { autoDepart: true, reasonCode: "SHUT" }));
    await route.site.events();
    await route.report("stop.dropoff.departure", at("D1", 35, { documents: [photo("door.jpg")] }));
    expect(await route.site.events()).toEqual([7014]);
    expect(await namesOf("D1")).toEqual(["door.jpg"]);
  });
});

describe("an event that comes again", () => {
  const steps: readonly (readonly [RouteEventCode, object, readonly RouteEventCode[]])[] = [
    ["stop.pickup.arrival", both, []],
    ["stop.pickup.confirmation", both, []],
    ["stop.pickup.departure", both, ["stop.pickup.confirmation"]],
    ["stop.pickup.closed", both, []],
    ["stop.dropoff.arrival", dropoff, []],
    ["stop.dropoff.confirmation", dropoff, []],
    ["stop.dropoff.departure", dropoff, ["stop.dropoff.confirmation"]],
    ["stop.dropoff.closed", dropoff, []],
  ];

  test.each(steps)(
    "as %s keeps the documents that are new, and records 7014 for these",
    async (code, stop, before) => {
      await route.load([{ ...stop, stopNbr: "S1" }, other]);
      await route.depart();
      for (const [index, earlier] of before.entries()) await route.report(earlier, at("S1", 20 + index));
      await route.report(code, at("S1", 30, { documents: [photo("a.jpg")] }));
      await route.site.events();
      const status = await route.site.stopStatus("S1");
      const data = { documents: [photo("a.jpg"), photo("b.jpg")] };
      for (let count = 0; count < 3; count += 1) await route.report(code, at("S1", 30, data));
      expect(await route.site.events()).toEqual([7014]);
      expect(await namesOf("S1")).toEqual(["a.jpg", "b.jpg"]);
      expect(await route.site.stopStatus("S1")).toBe(status);
      const parameters = [{ name: "stopNbr", value: "S1" }];
      const { Events } = await route.site.call(readEventList, { ...route.site.at, parameters });
      const last = Events.at(-1);
      expect(last).toMatchObject({ eventCode: 7014, eventDTTM: timeAt(30), reportedCode: code });
      expect(last).toMatchObject({ documents: [{ documentName: "b.jpg" }] });
    },
  );

  test("changes nothing that a later event has corrected, and adds what was missing", async () => {
    await route.load([{ ...both, stopDetails: details }, other]);
    await route.depart();
    const first = { stopDetails: [{ stopDetailSeq: 1, confirmedQty: 4 }], exceptionCode: "SHORT" };
    await route.report("stop.pickup.confirmation", at("B1", 30, first));
    const second = { stopDetails: [{ stopDetailSeq: 1, confirmedQty: 3 }] };
    await route.report("stop.dropoff.confirmation", at("B1", 40, second));
    await route.site.events();
    const again = {
      stopDetails: [{ stopDetailSeq: 1, confirmedQty: 4, scannedQty: 4 }],
      ...{ exceptionCode: "SHORT", documents: [photo("a.jpg")] },
    };
    for (let count = 0; count < 2; count += 1)
      await route.report("stop.pickup.confirmation", at("B1", 30, again));
    expect(await confirmedOf("B1")).toEqual({ confirmedQty: 3, scannedQty: 4 });
    expect(await exceptionsOf("B1")).toEqual([{ exceptionCode: "SHORT" }]);
    expect(await route.site.events()).toEqual([7014]);
  });

  test("of a stop that has left its load since tells of new documents, and touches nothing of the new plan", async () => {
    await route.load([dropoff, other]);
    await route.depart();
    await route.report("stop.dropoff.closed", at("D1", 30, { documents: [photo("a.jpg")] }));
    await route.site.importStops(dropoff);
    await route.load([dropoff], { nbr: "L2" });
    const data = { documents: [photo("a.jpg"), photo("b.jpg")] };
    for (let count = 0; count < 2; count += 1) await route.report("stop.dropoff.closed", at("D1", 30, data));
    expect(await route.site.events()).toEqual([7014]);
    expect(await route.site.stopStatus("D1")).toBe("20");
    expect(await namesOf("D1")).toEqual([]);
  });

  test("is refused when it confirms what the stop has not", async () => {
    await route.load([dropoff, other]);
    await route.depart();
    await route.report("stop.dropoff.confirmation", at("D1", 30));
    const data = { stopDetails: [{ stopDetailSeq: 7, confirmedQty: 1 }] };
    expect(await codeOf(route.report("stop.dropoff.confirmation", at("D1", 30, data)))).toBe("wrongType");
  });
});

describe("a completion file", () => {
  async function handInLate(): Promise<void> {
    await route.load([dropoff, other]);
    await route.depart();
    await route.report("stop.dropoff.confirmation", at("D1", 30, { autoDepart: true }));
    const data = { documents: [photo("late.jpg")] };
    for (let count = 0; count < 2; count += 1)
      await route.report("stop.dropoff.departure", at("D1", 40, data));
  }

  test("is not written again for a late document", async () => {
    await deliverOn();
    await handInLate();
    expect(await completionsOf("D1")).toEqual([7009]);
  });

  test("is written once more for a late document when outbound.on has 7014", async () => {
    await deliverOn(7014);
    await handInLate();
    expect(await completionsOf("D1")).toEqual([7009, 7014]);
  });
});
