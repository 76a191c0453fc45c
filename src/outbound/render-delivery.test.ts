import { completionFormat } from "../domain/outbound/completion-format.ts";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newGuid } from "../lib/ids.ts";
import { contentPath, putContent } from "../lib/files/content-store.ts";
import { createLogger } from "../lib/logs/log.ts";
import { findCompletions, type StoredCompletion } from "../store/outbound/completions.ts";
import { saveDocuments } from "../store/stops/documents.ts";
import { recordEvents } from "../operations/consequences/record-events.ts";
import { DeliverySite, type LogLine } from "../../test/support/delivery-site.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { createDocumentReader } from "./completion-documents.ts";
import type { DeliveryToRender } from "./delivery-to-render.ts";
import { createDeliveryRenderer } from "./render-delivery.ts";
import { stopCompletionOf } from "./stop-completion-of.ts";

const guid = newGuid();
const picture = Buffer.from("a picture");
const sha256 = "0f71f0f0d0e35c1c8f4e4f0c7d2f0d9b2f6a0ac8de9f1c1c0f7f0a2a9c5c2a11";

async function completedSite(embedsDocuments: boolean) {
  const site = await DeliverySite.open({ embedsDocuments });
  await site.addStop("S1");
  const { companyId, now: recordedAt } = site;
  const reported = { eventDTTM: "2026-11-05T09:30:00", eventTz: "Europe/Berlin", latitude: 52.5 };
  const documents = [{ documentName: "door.jpg", reference: guid }];
  const event = { companyId, stopNbr: "S1", recordedAt };
  await site.store.write("site", (tx) =>
    recordEvents(tx, [
      { ...event, kind: "stopDelivery", data: { ...reported, longitude: 13.4 } },
      { ...event, kind: "documentCapture", data: { ...reported, documents } },
      { ...event, kind: "stopReceived" },
    ]),
  );
  const [stored] = await findCompletions(site.store.read, [1]);
  if (stored === undefined) throw new Error("there is no completion");
  const documentsDir = join(temporaryFolder(), "documents");
  const lines: LogLine[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as LogLine) };
  const log = createLogger({ level: "info", destination });
  const renderer = createDeliveryRenderer({
    readDocument: createDocumentReader({ store: site.store, documentsDir, log }),
    export: () => Promise.reject(new Error("no export here")),
  });
  return { site, stored, documentsDir, lines, renderer };
}

function rowOf(
  completion: StoredCompletion | undefined,
  rest: Partial<DeliveryToRender> = {},
): DeliveryToRender {
  return {
    ...{ id: 1, guid: "g", companyId: 1, targetId: 1, kind: "completion", subjectId: 1, orderKey: "S1" },
    ...{ name: "moved.xml", dueAt: 0, attempts: 0, firstAttemptAt: null, createdAt: 0, companyCode: "ACME" },
    ...(completion === undefined ? {} : { completion }),
    ...rest,
  };
}

describe("a completion", () => {
  test("tells of the stop, its state, its events in their order and what asked for the file", async () => {
    const { stored } = await completedSite(false);
    expect(stopCompletionOf(stored)).toEqual({
      format: completionFormat,
      stop: { stopNbr: "S1" },
      stopStatus: "90",
      execution: {},
      events: [
        {
          ...{ eventId: 7009, reportedDTTM: "2026-11-05T09:30:00", timeZone: "Europe/Berlin" },
          ...{ latitude: 52.5, longitude: 13.4, recordedAt: Date.UTC(2026, 10, 5, 8), documents: [] },
        },
        {
          ...{
            eventId: 7014,
            reportedDTTM: "2026-11-05T09:30:00",
            timeZone: "Europe/Berlin",
            latitude: 52.5,
          },
          recordedAt: Date.UTC(2026, 10, 5, 8),
          documents: [{ documentName: "door.jpg", reference: guid }],
        },
        { eventId: 8100, recordedAt: Date.UTC(2026, 10, 5, 8), documents: [] },
      ],
      triggeredBy: 7009,
    });
  });

  test("tells of the load and its driver, and of the carrier as it was assigned last", async () => {
    const { stored } = await completedSite(false);
    const sent = { stopAssignment: { carrierCode: "OLD", assignmentCriteria: "01", note: 1 } };
    const assigned = {
      ...stored,
      ...{ body: JSON.stringify(sent), carrierCode: "NEW", assignmentCriteria: null },
      ...{ loadNbr: "L1", driver: '{"driverName":"Ann Hill","driverUserName":"ann","driverCdl":"x"}' },
    };
    expect(stopCompletionOf(assigned)).toMatchObject({
      stop: { stopAssignment: { carrierCode: "NEW", note: 1 } },
      load: { loadNbr: "L1", driverName: "Ann Hill", driverUserName: "ann" },
    });
    const unassigned = stopCompletionOf({ ...assigned, carrierCode: null, loadNbr: null });
    expect(unassigned.stop).toEqual({});
    expect(unassigned.load).toBeUndefined();
  });

  test("of a newer version is refused", async () => {
    const { stored, renderer } = await completedSite(false);
    await expect(renderer(rowOf({ ...stored, format: 99 }))).rejects.toThrow(/format 99.*newer version/);
  });

  test("of a state that there is none of is refused", async () => {
    const { stored, renderer } = await completedSite(false);
    const row = rowOf({ ...stored, stopStatus: "77" });
    await expect(renderer(row)).rejects.toThrow(`completion ${stored.id} has the unknown state 77`);
  });
});

describe("the file of a delivery", () => {
  test("has the name of the delivery, and the same bytes each time", async () => {
    const { stored, renderer } = await completedSite(false);
    const first = await renderer(rowOf(stored));
    const again = await renderer(rowOf(stored));
    expect(first.delivery).toMatchObject({ id: "g", companyCode: "ACME", files: [{ name: "moved.xml" }] });
    const bytes = await first.delivery.files[0]?.read();
    expect(Buffer.from(bytes ?? [])).toEqual(Buffer.from((await again.delivery.files[0]?.read()) ?? []));
    expect(first.size).toBe(bytes?.length);
    expect(first.sha256).toBe(again.sha256);
    expect(Buffer.from(bytes ?? []).toString()).toContain("<StopCompletion>");
  });

  test("has the content of documents when the company embeds them", async () => {
    const { site, stored, renderer, documentsDir } = await completedSite(true);
    await putContent(documentsDir, { sha256, bytes: picture });
    const kept = { guid, sha256, size: picture.length, name: "door.jpg" };
    await site.store.write("site", (tx) =>
      saveDocuments(tx, { companyId: site.companyId, documents: [kept], now: 1 }),
    );
    const { delivery } = await renderer(rowOf(stored));
    const text = Buffer.from((await delivery.files[0]?.read()) ?? []).toString();
    expect(text).toContain(picture.toString("base64"));
    const without = await renderer(rowOf({ ...stored, embedsDocuments: false }));
    const short = Buffer.from((await without.delivery.files[0]?.read()) ?? []).toString();
    expect(short).not.toContain(picture.toString("base64"));
  });

  test.each(["not in the register", "missing"])(
    "goes without a content that is %s, and the log says so",
    async (why) => {
      const { site, stored, renderer, lines } = await completedSite(true);
      const kept = { guid, sha256, size: picture.length, name: "door.jpg" };
      if (why !== "not in the register")
        await site.store.write("site", (tx) =>
          saveDocuments(tx, { companyId: site.companyId, documents: [kept], now: 1 }),
        );
      const { delivery } = await renderer(rowOf(stored));
      expect(Buffer.from((await delivery.files[0]?.read()) ?? []).toString()).toContain("door.jpg");
      expect(lines.some(({ msg, document }) => msg.includes(why) && document === guid)).toBe(true);
    },
  );

  test("waits for a content that cannot be read now, so that its bytes stay the same", async () => {
    const { site, stored, renderer, documentsDir } = await completedSite(true);
    const kept = { guid, sha256, size: picture.length, name: "door.jpg" };
    await site.store.write("site", (tx) =>
      saveDocuments(tx, { companyId: site.companyId, documents: [kept], now: 1 }),
    );
    mkdirSync(contentPath(documentsDir, sha256), { recursive: true });
    await expect(renderer(rowOf(stored))).rejects.toThrow("EISDIR");
  });

  test("is not there for a completion that is not there, and one of an export is made elsewhere", async () => {
    const { renderer } = await completedSite(false);
    await expect(renderer(rowOf(undefined))).rejects.toThrow("completion 1 is not in the database");
    await expect(renderer(rowOf(undefined, { kind: "export" }))).rejects.toThrow("no export here");
  });
});
