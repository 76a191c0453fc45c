import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import type { StopChange } from "../../domain/stop/stop-change.ts";
import {
  importRules,
  isStopStatus,
  type StopStatus,
  stopStatusNames,
} from "../../domain/stop/stop-status.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { savePartner } from "../../store/accounts/partners.ts";
import { applyStopChanges, type StopChanges, type StopChangesOutcome } from "./apply-stop-changes.ts";

let store: Store;
let companyId = 0;
const now = Date.UTC(2026, 10, 5, 8);

beforeEach(async () => {
  store = await openFreshStore(temporaryFolder());
  onTestFinished(() => store.close());
  companyId = (await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }))).company
    .id;
});

interface Extra extends Partial<StopChange["index"]> {
  readonly text?: string;
}

function change(stopFunction: StopChange["function"], stopNbr: string, extra: Extra = {}): StopChange {
  const { text = "", ...index } = extra;
  return {
    function: stopFunction,
    stopNbr,
    stopJson: JSON.stringify({ stopNbr, text }),
    index: { hasStopAssignment: false, markAsReceived: false, hasTimeWindow: true, ...index },
  };
}

function apply(changes: readonly StopChange[], rest: Partial<StopChanges> = {}): Promise<StopChangesOutcome> {
  const input = { companyId, changes, fileTime: null, refuseLate: true, now, ...rest };
  return store.write("site", (tx) => applyStopChanges(tx, input));
}

async function stopRow(stopNbr: string) {
  return await store.read.selectFrom("stops").selectAll().where("stop_nbr", "=", stopNbr).executeTakeFirst();
}

async function eventsOf(stopNbr: string): Promise<number[]> {
  const rows = await store.read
    .selectFrom("recorded_events")
    .select("event_code")
    .where("stop_nbr", "=", stopNbr)
    .orderBy("id")
    .execute();
  return rows.map(({ event_code }) => event_code);
}

async function forceStatus(stopNbr: string, status: StopStatus): Promise<void> {
  await store.write("site", async (tx) => {
    await tx.updateTable("stops").set({ stop_status: status }).where("stop_nbr", "=", stopNbr).execute();
  });
}

const code = (outcome: StopChangesOutcome) =>
  outcome.kind === "applied" ? "applied" : outcome.faults[0]?.code;

describe("an imported stop", () => {
  it("is 10 with a time window and 05 without, and records no event when it is new", async () => {
    await apply([change("01", "a"), change("01", "b", { hasTimeWindow: false })]);
    expect((await stopRow("a"))?.stop_status).toBe("10");
    expect((await stopRow("b"))?.stop_status).toBe("05");
    expect(await eventsOf("a")).toEqual([]);
  });

  const outcomes: readonly [StopStatus, string, StopStatus, readonly number[]][] = [
    ["00", "applied", "10", [7053]],
    ["05", "applied", "10", [7053]],
    ["10", "applied", "10", [7053]],
    ["20", "applied", "20", [7053]],
    ["24", "stopInTransit", "24", []],
    ["27", "stopInTransit", "27", []],
    ["30", "stopInTransit", "30", []],
    ["38", "stopInTransit", "38", []],
    ["50", "stopInTransit", "50", []],
    ["80", "applied", "10", [7044, 7053]],
    ["90", "finalState", "90", []],
    ["91", "finalState", "91", []],
    ["99", "applied", "10", []],
  ];

  it.each(outcomes)(
    "in state %s: %s, then %s with the events %j",
    async (before, expected, after, events) => {
      await apply([change("01", "a", { text: "old" })]);
      await forceStatus("a", before);
      expect(code(await apply([change("01", "a", { text: "new" })]))).toBe(expected);
      expect((await stopRow("a"))?.stop_status).toBe(after);
      expect(await eventsOf("a")).toEqual(events);
      expect((await stopRow("a"))?.body).toContain(expected === "applied" ? "new" : "old");
    },
  );

  it("has a rule for every state", () => {
    expect(outcomes.map(([status]) => status).sort()).toEqual(Object.keys(stopStatusNames).sort());
    expect(Object.keys(importRules).filter(isStopStatus)).toHaveLength(outcomes.length);
  });

  it("counts as created when it was cancelled before, and as updated otherwise", async () => {
    expect(await apply([change("01", "a")])).toEqual({
      kind: "applied",
      counts: { created: 1, updated: 0, deleted: 0 },
    });
    expect(await apply([change("01", "a")])).toEqual({
      kind: "applied",
      counts: { created: 0, updated: 1, deleted: 0 },
    });
    expect(await apply([change("02", "a")])).toEqual({
      kind: "applied",
      counts: { created: 0, updated: 0, deleted: 1 },
    });
    expect(await apply([change("01", "a")])).toEqual({
      kind: "applied",
      counts: { created: 1, updated: 0, deleted: 0 },
    });
  });

  it("can be found by the numbers of its last version", async () => {
    const numbers = { shipmentNbr: "S1", sealNbr: "L1", bol: "B1", reference1: "R1", reference2: "R2" };
    const columns = { shipment_nbr: "S1", seal_nbr: "L1", bol: "B1", reference1: "R1", reference2: "R2" };
    await apply([change("01", "a", { ...numbers, stopSeq: 3 })]);
    expect(await stopRow("a")).toMatchObject({ ...columns, stop_seq: 3 });
    await apply([change("01", "a")]);
    const none = Object.fromEntries(Object.keys(columns).map((column) => [column, null]));
    expect(await stopRow("a")).toMatchObject({ ...none, stop_seq: null });
  });

  it("marked as received records 8100 once", async () => {
    const received = { markAsReceived: true, receivedDttm: "2026-11-05T07:00:00" };
    await apply([change("01", "a", received)]);
    await apply([change("01", "a", received)]);
    expect(await eventsOf("a")).toEqual([8100, 7053]);
    expect(await stopRow("a")).toMatchObject({ receive_status: "10", receive_dttm: "2026-11-05T07:00:00" });
  });
});

describe("a deletion", () => {
  it("cancels, keeps the reason and records 7059", async () => {
    await apply([change("01", "a")]);
    await apply([change("02", "a")]);
    const row = await stopRow("a");
    expect(row?.stop_status).toBe("99");
    expect(JSON.parse(row?.execution ?? "{}")).toMatchObject({
      cancellation: { cancelDTTM: "2026-11-05T08:00:00" },
    });
    expect(await eventsOf("a")).toEqual([7059]);
  });

  it("of an unknown or cancelled stop is refused with 921", async () => {
    expect(code(await apply([change("02", "nobody")]))).toBe("stopNotFound");
    await apply([change("01", "a")]);
    await apply([change("02", "a")]);
    expect(code(await apply([change("02", "a")]))).toBe("stopNotFound");
    expect(await eventsOf("a")).toEqual([7059]);
  });

  it.each(["00", "05", "10", "20", "50", "80", "90", "91"] as const)(
    "is taken in state %s",
    async (status) => {
      await apply([change("01", "a")]);
      await forceStatus("a", status);
      expect(code(await apply([change("02", "a")]))).toBe("applied");
    },
  );
});

describe("Function 03", () => {
  beforeEach(async () => {
    const partner = { partnerCode: "C1", partnerName: "Carrier", partnerType: "Carrier" };
    await store.write("site", (tx) => savePartner(tx, { companyId, partner, now }));
  });

  it("assigns with a carrier and unassigns without", async () => {
    await apply([
      change("03", "a", { hasStopAssignment: true, carrierCode: "C1", assignmentCriteria: "01" }),
    ]);
    expect(await stopRow("a")).toMatchObject({ carrier_code: "C1", assignment_criteria: "01" });
    await apply([change("01", "a")]);
    expect((await stopRow("a"))?.carrier_code).toBe("C1");
    await apply([change("03", "a", { hasStopAssignment: true, carrierCode: "" })]);
    expect((await stopRow("a"))?.carrier_code).toBeNull();
    await apply([change("03", "a", { hasStopAssignment: true, carrierCode: "C1" })]);
    await apply([change("03", "a")]);
    expect((await stopRow("a"))?.carrier_code).toBeNull();
  });

  it("with an unknown carrier is refused with 925 and changes nothing", async () => {
    expect(code(await apply([change("03", "a", { hasStopAssignment: true, carrierCode: "XX" })]))).toBe(
      "partnerNotFound",
    );
    expect(await stopRow("a")).toBeUndefined();
  });
});

describe("a document", () => {
  it("is all or nothing, and names each stop that is at fault", async () => {
    const outcome = await apply([change("01", "a"), change("02", "x"), change("01", "b"), change("02", "y")]);
    expect(outcome.kind === "refused" && outcome.faults.map(({ stopNbr }) => stopNbr)).toEqual(["x", "y"]);
    expect(await stopRow("a")).toBeUndefined();
  });

  it("may name a stop twice: the second sees what the first did", async () => {
    const outcome = await apply([change("01", "a"), change("01", "a"), change("02", "a"), change("02", "a")]);
    expect(code(outcome)).toBe("stopNotFound");
    expect(await apply([change("01", "a"), change("01", "a"), change("02", "a")])).toEqual({
      kind: "applied",
      counts: { created: 1, updated: 1, deleted: 1 },
    });
    expect((await stopRow("a"))?.stop_status).toBe("99");
  });

  it("older than one applied to its stop is superseded, also after the stop was deleted", async () => {
    await apply([change("01", "a", { text: "new" })], { fileTime: 20261105080000 });
    expect((await apply([change("01", "a")], { fileTime: 20261105075959 })).kind).toBe("superseded");
    expect((await apply([change("01", "a")], { fileTime: 20261105080000 })).kind).toBe("applied");
    await apply([change("02", "a")], { fileTime: 20261105090000 });
    expect((await apply([change("01", "a")], { fileTime: 20261105083000 })).kind).toBe("superseded");
    expect((await stopRow("a"))?.stop_status).toBe("99");
  });

  it("with documents keeps these", async () => {
    const document = { guid: "g-1", sha256: "a".repeat(64), size: 4, name: "plan" };
    await apply([{ ...change("01", "a"), documents: [document] }]);
    const rows = await store.read.selectFrom("documents").select(["guid", "size", "name"]).execute();
    expect(rows).toEqual([{ guid: "g-1", size: 4, name: "plan" }]);
  });

  it("that is late is applied when the setting says so, and the newest time stays", async () => {
    await apply([change("01", "a")], { fileTime: 20261105080000 });
    const late = await apply([change("01", "a")], { fileTime: 20261105070000, refuseLate: false });
    expect(late.kind).toBe("applied");
    expect((await stopRow("a"))?.file_time).toBe(20261105080000);
  });

  it("without a time neither is late nor moves the time", async () => {
    await apply([change("01", "a")], { fileTime: 20261105080000 });
    expect((await apply([change("01", "a")])).kind).toBe("applied");
    expect((await stopRow("a"))?.file_time).toBe(20261105080000);
  });
});
