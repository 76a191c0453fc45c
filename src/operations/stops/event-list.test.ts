import { beforeEach, describe, expect, test } from "vitest";
import { StopSite } from "../../../test/support/stop-site.ts";
import { createSealedNumbers, newSealingKey } from "../../lib/sealed-numbers.ts";
import { recordEvents } from "../consequences/record-events.ts";
import { defaultEventLimit, maxEventLimit, readEventList } from "./event-list.ts";

const eventNumbers = createSealedNumbers(newSealingKey(), "event");

let site: StopSite;

beforeEach(async () => {
  site = await StopSite.open();
  await site.keep("S1");
});

async function record(count: number, data: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const { companyId, now: recordedAt } = site;
  const event = { companyId, kind: "stopUpdated", stopNbr: "S1", recordedAt, data } as const;
  await site.store.write(companyId, (tx) =>
    recordEvents(
      tx,
      Array.from({ length: count }, () => event),
    ),
  );
}

function list(...parameters: readonly (readonly [name: string, value: string])[]) {
  const named = parameters.map(([name, value]) => ({ name, value }));
  return readEventList({ store: site.store, eventNumbers }, { companyId: site.companyId, parameters: named });
}

const countOf = async (limit?: string) =>
  (await list(["stopNbr", "S1"], ...(limit === undefined ? [] : [["limit", limit] as const]))).Events.length;

describe("the list of recorded events", () => {
  test("has 500, or as many as are asked for, from 1 to 5,000", async () => {
    await record(defaultEventLimit + 1);
    expect([await countOf(), await countOf("1"), await countOf(String(maxEventLimit))]).toEqual([
      500, 1, 501,
    ]);
    for (const limit of ["0", "5001", "1.5", "0x10", "-1", "0000001", ""])
      await expect(countOf(limit)).rejects.toMatchObject({
        message: "limit must be a whole number from 1 to 5000.",
        faults: [{ code: "wrongType", path: "limit" }],
      });
  });

  test("goes on after the last event that is known, or from a time of UTC, that moment among them", async () => {
    await record(1);
    site.now += 1_000;
    await record(1, { eventDTTM: "2026-11-05T09:00:00", eventTz: "Europe/Berlin" });
    const [first, second] = (await list(["stopNbr", "S1"])).Events;
    expect(first).toMatchObject({ eventDTTM: "2026-11-05T08:00:00", eventTz: "UTC" });
    expect(second).toMatchObject({ eventDTTM: "2026-11-05T09:00:00", eventTz: "Europe/Berlin" });
    expect(first).not.toHaveProperty("loadNbr");
    const since = async (text: string) => (await list(["stopNbr", "S1"], ["since", text])).Events;
    expect(await since(String(first?.eventId))).toEqual([second]);
    expect(await since("2026-11-05T08:00:01")).toEqual([second]);
    expect(await since("2026-11-05T09:00:01+01:00")).toEqual([second]);
    expect(await since("2026-11-05T08:00:00")).toEqual([first, second]);
    await expect(since("today")).rejects.toMatchObject({
      message: expect.stringMatching(/^since is neither the eventId .* nor a date-time in UTC such as /),
      faults: [{ code: "badDate", path: "since" }],
    });
  });

  test("takes names of parameters in any case, each once, and no other", async () => {
    await record(1);
    expect((await list(["STOPNBR", "S1"])).Events).toHaveLength(1);
    await expect(
      list(["stopNbr", "S1"], ["stopnbr", "S2"], ["colour", "red"], ["x".repeat(70), "1"]),
    ).rejects.toMatchObject({
      faults: [
        { code: "wrongType", path: "stopNbr", message: "stopNbr stands twice in the query. Send it once." },
        { code: "unknownFilter", path: "colour", message: expect.stringMatching(/^colour is no parameter/) },
        { code: "unknownFilter", path: "x".repeat(60) },
      ],
    });
    await expect(list(["limit", "1"])).rejects.toMatchObject({
      code: "missing",
      message: "stopNbr and loadNbr are missing. Send one of them in the query.",
    });
  });

  test("is empty for a stop without events, and refused for a stop or load that is not there", async () => {
    expect((await list(["stopNbr", "S1"])).Events).toEqual([]);
    await expect(list(["stopNbr", "S2"])).rejects.toMatchObject({ code: "stopNotFound" });
    await expect(list(["loadNbr", "L1"])).rejects.toMatchObject({ code: "loadNotFound" });
    await expect(list(["stopNbr", "S1"], ["loadNbr", "L1"])).rejects.toMatchObject({ code: "loadNotFound" });
  });
});
