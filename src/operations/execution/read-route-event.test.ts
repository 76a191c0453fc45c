import { afterAll, beforeAll, expect, test } from "vitest";
import { codeOf } from "../../../test/support/gateway-store.ts";
import { createImportThreads } from "../imports/import-threads.ts";
import { readRouteEvent } from "./read-route-event.ts";

const readers = createImportThreads({ maxBodyBytes: () => 20_000_000 });
const limits = { maxDepth: 32, maxValues: 500_000 };

beforeAll(() => readers.start(new AbortController().signal));
afterAll(() => readers.stop(AbortSignal.timeout(10_000)));

function eventWith(documents: readonly object[], eventCode = "stop.dropoff.arrival") {
  const geoStamp = { eventDTTM: "2026-11-05T08:00:00", eventTz: "UTC" };
  return { eventCode, geoStamp, routeNbr: "L1", stopEventData: { stopNbr: "S1", documents } };
}

const photo = (content: string | Uint8Array, documentName: string) => ({
  ...{ documentName, documentType: "IMAGE" },
  documentData: Buffer.from(content).toString("base64"),
});

async function readThere(event: object) {
  const bytes = new TextEncoder().encode(JSON.stringify(event));
  return await readers.readEvent({ companyCode: "ACME", bytes, limits });
}

test("an event that a reader thread has read is the same as one that is read here, contents and all", async () => {
  // One that shares its memory with others, and one that does not.
  const event = eventWith([photo("small", "a.jpg"), photo(Buffer.alloc(3_000_000, "large"), "b.jpg")]);
  const here = readRouteEvent({ companyCode: "ACME", body: event });
  const there = await readThere(event);
  expect({ ...there, contents: [] }).toEqual({ ...here, contents: [] });
  expect(there.contents.map(({ document }) => document)).toEqual(
    here.contents.map(({ document }) => document),
  );
  for (const [index, { bytes }] of here.contents.entries())
    expect(Buffer.compare(there.contents[index]?.bytes ?? Buffer.alloc(0), bytes)).toBe(0);
  expect(there.data?.documents?.map(({ documentData }) => documentData)).toEqual([undefined, undefined]);
  expect(JSON.stringify(there.body)).not.toContain("documentData");
});

test("what is no base64 is told as a value: only who may report is told of it", async () => {
  const { faults, contents } = await readThere(
    eventWith([{ documentName: "x", documentData: "no base64!" }]),
  );
  expect(faults).toMatchObject([{ code: "wrongType", path: "stopEventData.documents[0].documentData" }]);
  expect(contents).toEqual([]);
});

test("what is wrong with the event itself is thrown as it is here", async () => {
  expect(await codeOf(readThere(eventWith([], "stop.unheard.of")))).toBe("unknownEvent");
  expect(await codeOf(readThere({ eventCode: "stop.dropoff.arrival" }))).toBe("emptyList");
});
