/** The order of the stops of a load: by `stopSeq` where it is one, else as they were listed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDocumentPool } from "../../src/documents/pool/document-pool.ts";
import { submitStopDocument } from "../../src/inbound/submit-stop-document.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { north, RouteDriver } from "../support/route-driver.ts";

const documents = createDocumentPool({ log: createLogger({ level: "silent" }), threads: 1 });
beforeAll(() => documents.start(new AbortController().signal));
afterAll(() => documents.stop(new AbortController().signal));

let route: RouteDriver;

beforeEach(async () => {
  route = await RouteDriver.open();
});

/** A stop so many kilometres from the origin. */
function stop(stopNbr: string, stopSeq: string | number | undefined, kilometres = 1): object {
  return { stopNbr, ...(stopSeq === undefined ? {} : { stopSeq }), to: north(kilometres) };
}

async function orderOf(loadNbr = "L1"): Promise<readonly string[]> {
  const { stops } = await route.site.load(loadNbr);
  return stops.map((one: { stop: { stopNbr: string } }) => one.stop.stopNbr);
}

async function sendXml(xml: string): Promise<void> {
  const { store, companyId, now } = route.site;
  const submission = { companyId, companyCode: "ACME", userName: "host", requestId: "r" };
  const deps = { store, documents, clock: { now: () => now } };
  const { status } = await submitStopDocument(deps, { ...submission, bytes: Buffer.from(xml) });
  expect(status).toBe(10);
}

describe("the stops of a load import are visited", () => {
  test.each([
    ["by their distinct numbers", [3, "01", "2"], ["B", "C", "A"]],
    ["as they are listed when one has none", [3, 1, undefined], ["A", "B", "C"]],
    ["as they are listed when two have the same", [3, 1, "1.0"], ["A", "B", "C"]],
    ["as they are listed when one is no number", [3, 1, "next"], ["A", "B", "C"]],
  ])("%s", async (_how, [a, b, c], order) => {
    await route.load([stop("A", a), stop("B", b), stop("C", c)]);
    expect(await orderOf()).toEqual(order);
    await route.load([stop("A", a), stop("B", b), stop("C", c)]);
    expect(await orderOf()).toEqual(order);
  });

  test("so that planned arrivals go from stop to stop in that order", async () => {
    await route.load([stop("A", 3, 30), stop("B", 1, 10), stop("C", 2, 20)]);
    await route.depart();
    const etas = await Promise.all(
      ["B", "C", "A"].map(async (nbr) => (await route.execution(nbr)).to.plannedEtaDTTM),
    );
    expect(etas.toSorted()).toEqual(etas);
    expect(etas[2].slice(11, 16)).toBe("08:53");
  });
});

describe("another stopSeq moves a planned stop", () => {
  beforeEach(() => route.load([stop("A", 1), stop("B", 2), stop("C", 3)]));

  test("by a stop import", async () => {
    await route.site.importStops(stop("A", 9));
    expect(await orderOf()).toEqual(["B", "C", "A"]);
  });

  test("by an XML document", async () => {
    await sendXml("<Stop><Function>01</Function><StopNbr>C</StopNbr><StopSeq>0</StopSeq></Stop>");
    expect(await orderOf()).toEqual(["C", "A", "B"]);
  });

  test("and back to the order of the list when the numbers say none any more", async () => {
    await route.site.importStops(stop("A", 9));
    await route.site.importStops(stop("B", 3));
    expect(await orderOf()).toEqual(["A", "B", "C"]);
  });

  test("also when the numbers become distinct because a stop has left the load", async () => {
    await route.load([stop("A", 3), stop("B", 2), stop("C", 3)]);
    expect(await orderOf()).toEqual(["A", "B", "C"]);
    await sendXml("<Stop><Function>02</Function><StopNbr>C</StopNbr></Stop>");
    expect(await orderOf()).toEqual(["B", "A"]);
    await route.load([stop("A", 3), stop("B", 2), stop("C", 3)]);
    await route.load([stop("C", 1)], { nbr: "L2" });
    expect(await orderOf()).toEqual(["B", "A"]);
  });

  test("and the next report works its arrival out anew, however short a while ago that was done", async () => {
    await route.site.importStops(stop("A", 1, 10), stop("B", 2, 20), stop("C", 3, 30));
    await route.report("route.initiated", { at: 0 });
    const before = await route.execution("C");
    await route.site.importStops(stop("A", 4, 10));
    await route.position(0, { at: 1 });
    const after = await Promise.all(["B", "C", "A"].map((nbr) => route.execution(nbr)));
    const etas = after.map(({ to }) => to.plannedEtaDTTM);
    expect(etas.toSorted()).toEqual(etas);
    expect(before.to.plannedEtaDTTM.slice(11, 16)).toBe("08:52");
    expect(etas[2].slice(11, 16)).toBe("09:27");
  });
});
