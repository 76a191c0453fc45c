/** Changes to stops that a load import lists, and what refusals say; the states of stops are in `apply-stop-changes.test.ts`. */
import { beforeEach, describe, expect, test } from "vitest";
import { StopSite } from "../../../test/support/stop-site.ts";
import type { LoadStatus } from "../../domain/load/load-status.ts";
import { plannedImportRules } from "../../domain/stop/stop-actions.ts";
import { type StopFunction, stopChangeOf } from "../../domain/stop/stop-change.ts";
import type { Stop } from "../../domain/stop/stop.ts";
import { maxKeptFaults } from "../../lib/errors.ts";
import { saveLoad } from "../../store/stops/loads.ts";
import { findProgress, saveProgress } from "../../store/stops/route-reports.ts";
import { applyStopChanges, type StopChanges, type StopChangesOutcome } from "./apply-stop-changes.ts";

let site: StopSite;

beforeEach(async () => {
  site = await StopSite.open();
});

function change(stop: Stop, code: StopFunction = "01") {
  return stopChangeOf(code, stop);
}

function apply(changes: StopChanges["changes"], more: Partial<StopChanges> = {}) {
  const { companyId, now } = site;
  const input = { companyId, changes, fileTime: null, refuseLate: true, now, ...more };
  return site.store.write(companyId, (tx) => applyStopChanges(tx, input));
}

async function addLoad(loadNbr: string, status: LoadStatus = 10): Promise<number> {
  const { companyId, now } = site;
  return await site.store.write(companyId, (tx) =>
    saveLoad(tx, {
      ...{ companyId, loadNbr, status, carrierCode: null, assignmentCriteria: null, driverUserId: null },
      ...{ driver: "{}", reference: null, sealNbr: null, body: JSON.stringify({ loadNbr }), extra: "{}" },
      ...{ execution: "{}", createdAt: now, updatedAt: now },
    }),
  );
}

/** As an import of the load does. `namedOnly` are stops of which it has the number alone. */
function list(load: { id: number; loadNbr: string }, stops: readonly Stop[], namedOnly: string[] = []) {
  return apply(
    stops.map((stop) => change(stop)),
    {
      ...{ rules: plannedImportRules, refuseLate: false, load: { ...load, namedOnly: new Set(namedOnly) } },
      pathOf: (index) => `loads[0].stops[${index}]`,
    },
  );
}

const faultsOf = (outcome: StopChangesOutcome) => (outcome.kind === "applied" ? [] : outcome.faults);
const counts = (created: number, updated: number, deleted: number) => ({
  ...{ kind: "applied", counts: { created, updated, deleted } },
});

/** The load and place of the stop, as its row has them. */
async function placeOf(stopNbr: string) {
  const { load_id, load_position, listed_position, stop_status } = await site.row(stopNbr);
  return [load_id, load_position, listed_position, stop_status];
}

describe("a stop that a load lists", () => {
  test("is planned at its place, once: it stays planned when it is listed again", async () => {
    const id = await addLoad("L1");
    const load = { id, loadNbr: "L1" };
    await site.keep("S2");
    expect(await list(load, [{ stopNbr: "S1" }, { stopNbr: "S2" }])).toEqual(counts(1, 1, 0));
    expect([await placeOf("S1"), await placeOf("S2")]).toEqual([
      [id, 0, 0, "20"],
      [id, 1, 1, "20"],
    ]);
    expect(await site.events()).toEqual([7028, 7028]);
    await list(load, [{ stopNbr: "S2" }, { stopNbr: "S1" }]);
    expect([await placeOf("S1"), await placeOf("S2")]).toEqual([
      [id, 1, 1, "20"],
      [id, 0, 0, "20"],
    ]);
    expect(await site.events()).toEqual([7028, 7028]);
  });

  test("leaves another load that is not under way, whose stops close up", async () => {
    const [first, second] = [await addLoad("L1"), await addLoad("L2")];
    await list({ id: first, loadNbr: "L1" }, [{ stopNbr: "S1" }, { stopNbr: "S2" }]);
    await list({ id: second, loadNbr: "L2" }, [{ stopNbr: "S1" }]);
    expect(await placeOf("S1")).toEqual([second, 0, 0, "20"]);
    expect((await placeOf("S2")).slice(0, 2)).toEqual([first, 0]);
    expect(await site.events()).toEqual([7028, 7028, 7028]);
  });

  test.each([40, 70] as const)(
    "and that is on a load under way (%i) is refused, with its path",
    async (status) => {
      const other = await addLoad("L1", status);
      const id = await addLoad("L2");
      await site.keep("S1", { loadId: other, loadPosition: 0, status: "80" });
      expect(await list({ id, loadNbr: "L2" }, [{ stopNbr: "S0" }, { stopNbr: "S1" }])).toMatchObject({
        kind: "refused",
        faults: [
          {
            ...{ code: "stopInTransit", stopNbr: "S1", path: "loads[0].stops[1]" },
            message:
              "loads[0].stops[1]: stopNbr S1: the stop is on load L1, which is under way; take it out of this load",
          },
        ],
      });
      expect(await list({ id: other, loadNbr: "L1" }, [{ stopNbr: "S1" }])).toEqual(counts(0, 1, 0));
      expect((await placeOf("S1"))[0]).toBe(other);
    },
  );

  test("by its number alone keeps what was sent before, and its carrier; with a stopSeq but for that", async () => {
    const id = await addLoad("L1");
    await site.addPartner("C1");
    const sent = { stopNbr: "S1", stopSeq: 7, bol: "B", stopAssignment: { carrierCode: "C9" } };
    await site.keep("S1", { body: JSON.stringify(sent), stopSeq: 7, bol: "B", carrierCode: "C1" });
    await list({ id, loadNbr: "L1" }, [{ stopNbr: "S1" }], ["S1"]);
    expect(await site.row("S1")).toMatchObject({ stop_seq: 7, bol: "B", carrier_code: "C1" });
    expect(JSON.parse((await site.row("S1")).body)).toEqual(sent);
    await list({ id, loadNbr: "L1" }, [{ stopNbr: "S1", stopSeq: 3 }], ["S1"]);
    expect(await site.row("S1")).toMatchObject({ stop_seq: 3, bol: "B", carrier_code: "C1" });
    expect(JSON.parse((await site.row("S1")).body)).toEqual({ ...sent, stopSeq: 3 });
    await list({ id, loadNbr: "L1" }, [{ stopNbr: "S1" }]);
    expect(await site.row("S1")).toMatchObject({ stop_seq: null, bol: null, carrier_code: "C1" });
  });

  test("by its number alone is created when it is not there, or was cancelled", async () => {
    const id = await addLoad("L1");
    await site.keep("S2", { status: "99", bol: "B" });
    const stops = [{ stopNbr: "S1" }, { stopNbr: "S2" }];
    expect(await list({ id, loadNbr: "L1" }, stops, ["S1", "S2"])).toEqual(counts(2, 0, 0));
    expect(await site.row("S2")).toMatchObject({ stop_status: "20", bol: null });
  });
});

describe("a planned stop that is imported", () => {
  test("stays at its place, and moves with another stopSeq", async () => {
    const id = await addLoad("L1");
    await list({ id, loadNbr: "L1" }, [
      { stopNbr: "S1", stopSeq: 1 },
      { stopNbr: "S2", stopSeq: 2 },
    ]);
    await apply([change({ stopNbr: "S1", stopSeq: 1, bol: "B" })]);
    expect(await placeOf("S1")).toEqual([id, 0, 0, "20"]);
    await apply([change({ stopNbr: "S1", stopSeq: 3 })]);
    expect([await placeOf("S1"), await placeOf("S2")]).toEqual([
      [id, 1, 0, "20"],
      [id, 0, 1, "20"],
    ]);
  });

  test("has the load's ETAs calculated anew when its place changes, and only then", async () => {
    const id = await addLoad("L1");
    await list({ id, loadNbr: "L1" }, [
      { stopNbr: "S1", stopSeq: 1 },
      { stopNbr: "S2", stopSeq: 2 },
    ]);
    const progress = { loadId: id, at: 1, place: { latitude: 1, longitude: 1 }, etaAt: 7 };
    await site.store.write(site.companyId, (tx) => saveProgress(tx, progress));
    const etaAt = () => site.store.write(site.companyId, async (tx) => (await findProgress(tx, id))?.etaAt);
    await apply([change({ stopNbr: "S2", stopSeq: 3 })]);
    expect(await etaAt()).toBe(7);
    await apply([change({ stopNbr: "S1", stopSeq: 4 })]);
    expect(await etaAt()).toBeNull();
  });

  test("is on no load when it was closed, and what was done of it is forgotten", async () => {
    const id = await addLoad("L1", 40);
    const execution = JSON.stringify({ to: { arrivalDTTM: "2026-11-05T07:00:00" } });
    const place = { loadId: id, loadPosition: 0, listedPosition: 0, createdAt: 5, execution };
    await site.keep("S1", { ...place, status: "80" });
    await site.keep("S2", { ...place, status: "20", loadPosition: 1, listedPosition: 1 });
    await apply([change({ stopNbr: "S1" }), change({ stopNbr: "S2" })]);
    expect(await placeOf("S1")).toEqual([null, null, null, "10"]);
    expect(await site.row("S1")).toMatchObject({ execution: "{}", created_at: 5, updated_at: site.now });
    expect(await site.row("S2")).toMatchObject({ execution, created_at: 5, load_id: id, load_position: 0 });
  });

  test("and deleted leaves its load, which is completed when nothing else is left of it", async () => {
    const id = await addLoad("L1", 40);
    await site.keep("S1", { loadId: id, loadPosition: 0, listedPosition: 0, status: "50" });
    await site.keep("S2", { loadId: id, loadPosition: 1, listedPosition: 1, status: "90" });
    expect(await apply([change({ stopNbr: "S1" }, "02")])).toEqual(counts(0, 0, 1));
    expect(await placeOf("S1")).toEqual([null, null, null, "99"]);
    expect((await placeOf("S2")).slice(0, 2)).toEqual([id, 0]);
    expect(await site.events()).toEqual([7059, 7005]);
  });
});

describe("the receipt of goods", () => {
  test("is now when no time is sent, and stays at the first one", async () => {
    await apply([change({ stopNbr: "S1", markAsReceived: true })]);
    expect(await site.row("S1")).toMatchObject({
      ...{ receive_status: "10", receive_dttm: "2026-11-05T08:00:00" },
    });
    site.now += 60_000;
    await apply([change({ stopNbr: "S1", markAsReceived: true })]);
    await apply([change({ stopNbr: "S1" })]);
    expect(await site.row("S1")).toMatchObject({
      ...{ receive_status: "10", receive_dttm: "2026-11-05T08:00:00" },
    });
    expect(await site.events()).toEqual([8100, 7053, 7053]);
  });

  test("of a stop that was cancelled is none when it is sent again", async () => {
    await site.keep("S1", { status: "99", receiveStatus: "10", receiveDttm: "2026-11-05T07:00:00" });
    await apply([change({ stopNbr: "S1" })]);
    expect(await site.row("S1")).toMatchObject({ receive_status: "00", receive_dttm: null });
  });
});

describe("a refusal", () => {
  test("names the state of the stop in words, and what to send instead; XML has its own names", async () => {
    await site.keep("S1", { status: "50" });
    expect(faultsOf(await apply([change({ stopNbr: "S1" })]))).toEqual([
      {
        ...{ code: "stopInTransit", stopNbr: "S1" },
        message:
          "StopNbr S1: the stop is 50 (arrived at drop-off) and cannot be changed; send what is still to be done under another stop number",
      },
    ]);
    expect(faultsOf(await apply([change({ stopNbr: "S9" }, "02")]))[0]?.message).toBe(
      "StopNbr S9: there is no such stop to delete; check the number, or whether it was deleted before",
    );
  });

  test("of an unknown carrier tells a file to come under a new time, and names the field of the request", async () => {
    const stop = { stopNbr: "S1", stopAssignment: { carrierCode: "C9" } };
    const text = "there is no such business partner; import it or correct the code, then send the stop again";
    expect(faultsOf(await apply([change(stop)]))).toEqual([
      {
        ...{ code: "partnerNotFound", stopNbr: "S1" },
        message: `CarrierCode C9: ${text} (a file under a new time)`,
      },
    ]);
    const pathOf = (index: number) => `stops[${index}]`;
    expect(faultsOf(await apply([change({ stopNbr: "S0" }), change(stop)], { pathOf }))).toEqual([
      {
        ...{ code: "partnerNotFound", stopNbr: "S1", path: "stops[1]" },
        message: `stops[1]: carrierCode C9: ${text}`,
      },
    ]);
  });

  test("goes before what is late, and both are cut where faults are", async () => {
    await site.keep("S1", { fileTime: 20261105090000 });
    const late = { fileTime: 20261105080000 };
    const outcome = await apply([change({ stopNbr: "S1" }), change({ stopNbr: "S9" }, "02")], late);
    expect(outcome.kind).toBe("refused");
    expect(faultsOf(outcome).map(({ code }) => code)).toEqual(["stopNotFound", "superseded"]);
    expect(faultsOf(await apply([change({ stopNbr: "S1" })], late))).toEqual([
      {
        ...{ code: "superseded", stopNbr: "S1" },
        message:
          "a newer file for stop S1 (time 20261105090000) has been applied; send the stop again under a new time",
      },
    ]);
    const many = Array.from({ length: maxKeptFaults + 1 }, (_, at) => change({ stopNbr: `N${at}` }, "02"));
    expect(faultsOf(await apply(many))).toHaveLength(maxKeptFaults);
    const same = Array.from({ length: maxKeptFaults + 1 }, () => change({ stopNbr: "S1" }));
    expect(faultsOf(await apply(same, late))).toHaveLength(maxKeptFaults);
  });
});

describe("the time of a file", () => {
  test("is kept with the stop when it is newer, also by a deletion", async () => {
    await apply([change({ stopNbr: "S1" })], { fileTime: 20261105080000 });
    await apply([change({ stopNbr: "S1" }, "02")], { fileTime: 20261105090000 });
    expect((await site.row("S1")).file_time).toBe(20261105090000);
    await apply([change({ stopNbr: "S1" })], { fileTime: 20261105070000, refuseLate: false });
    expect((await site.row("S1")).file_time).toBe(20261105090000);
  });
});
