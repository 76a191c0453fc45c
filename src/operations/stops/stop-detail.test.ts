import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainStop } from "../../../test/support/plain-stop.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { type StopRecord, saveStop } from "../../store/stops/stops.ts";
import { readStopDetail } from "./stop-detail.ts";

let folder = "";
let store: Store;
let companyId = 0;
let otherId = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "stop-detail-"));
  store = await openFreshStore(folder);
  companyId = await store.write(
    "site",
    async (tx) => (await insertCompany(tx, { code: "ACME", createdAt: 1 })).company.id,
  );
  otherId = await store.write(
    "site",
    async (tx) => (await insertCompany(tx, { code: "Beta", createdAt: 1 })).company.id,
  );
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

async function keep(stop: { stopNbr: string }, changes: Partial<StopRecord> = {}): Promise<void> {
  const { stopNbr } = stop;
  await store.write("site", (tx) =>
    saveStop(tx, { ...plainStop, companyId, stopNbr, body: JSON.stringify(stop), ...changes }),
  );
}

const read = async (stopNbr: string) => JSON.parse(await readStopDetail({ store }, { companyId, stopNbr }));
const noTimes = {
  plannedEtaDTTM: null,
  arrivalDTTM: null,
  confirmedDTTM: null,
  departureDTTM: null,
  duration: null,
};

describe("stop detail", () => {
  it("gives the stop as it was sent, with the whole execution info, nothing known yet", async () => {
    const stop = { stopNbr: "A1", stopSeq: "007", weight: 1.5, to: { address: { name: 'Ä "q" \u2028' } } };
    await keep(stop);
    expect(await read("A1")).toEqual({
      Stop: {
        stop,
        load: { loadNbr: null, driverName: null, vehicleNbr: null },
        stopExecutionInfo: {
          stopStatus: "10",
          receiveStatus: "00",
          receiveDTTM: null,
          from: noTimes,
          to: noTimes,
          exceptionPresent: false,
          exceptions: [],
          cancellation: null,
        },
      },
    });
  });

  it("takes the assignment from where it was made last, not from what was sent", async () => {
    await keep({ stopNbr: "A2" }, { carrierCode: "C-1", assignmentCriteria: "01" });
    expect((await read("A2")).Stop.stop).toEqual({
      stopNbr: "A2",
      stopAssignment: { carrierCode: "C-1", assignmentCriteria: "01" },
    });
    const sent = { stopNbr: "A3", stopAssignment: { carrierCode: "OLD" } };
    await keep(sent);
    expect((await read("A3")).Stop.stop).toEqual({ stopNbr: "A3" });
    await keep(sent, { carrierCode: "NEW" });
    expect((await read("A3")).Stop.stop).toEqual({ stopNbr: "A3", stopAssignment: { carrierCode: "NEW" } });
  });

  it("gives an assignment back in the form it came in, with the carrier that holds now", async () => {
    const stopAssignment = { carrierCode: "C1", assignmentCriteria: 1, extra: "kept" };
    await keep({ stopNbr: "A4", stopAssignment } as { stopNbr: string }, {
      carrierCode: "C2",
      assignmentCriteria: "1",
    });
    expect((await read("A4")).Stop.stop.stopAssignment).toEqual({ ...stopAssignment, carrierCode: "C2" });
  });

  it("leaves alone a text that only looks like a key", async () => {
    const stop = {
      stopNbr: "A5",
      bol: '"stopAssignment":{}',
      comments: [{ commentDescription: '"documentData":' }],
    };
    await keep(stop);
    expect((await read("A5")).Stop.stop).toEqual(stop);
  });

  it("leaves alone what is called nearly like an assignment", async () => {
    const stop = { stopNbr: "A7", carAssignment: { carrierCode: "X" }, stopAssignments: [1] };
    await keep(stop, { receiveStatus: "10" });
    const { stop: shown, stopExecutionInfo } = (await read("A7")).Stop;
    expect([shown, stopExecutionInfo.receiveStatus]).toEqual([stop, "10"]);
  });

  it("gives what is known of the execution", async () => {
    const cancellation = {
      reasonCode: "7",
      reasonDesc: "x",
      cancelDTTM: "2026-11-05T08:00:00",
      cancelTimeZone: "UTC",
    };
    const exceptions = [{ exceptionCode: "E1", exceptionDesc: "late" }];
    const execution = JSON.stringify({ cancellation, exceptions, to: { duration: 5 } });
    await keep(
      { stopNbr: "A6" },
      { status: "99", receiveStatus: "10", receiveDttm: "2026-11-05T07:00:00", execution },
    );
    expect((await read("A6")).Stop.stopExecutionInfo).toEqual({
      stopStatus: "99",
      receiveStatus: "10",
      receiveDTTM: "2026-11-05T07:00:00",
      from: noTimes,
      to: { ...noTimes, duration: 5 },
      exceptionPresent: true,
      exceptions,
      cancellation,
    });
  });

  it("is refused with 921 for a number that differs in anything, and for another company's", async () => {
    for (const stopNbr of ["a1", "A1 ", "0A1", ""]) {
      await expect(readStopDetail({ store }, { companyId, stopNbr })).rejects.toMatchObject({
        code: "stopNotFound",
      });
    }
    const query = { companyId: otherId, stopNbr: "A1" };
    await expect(readStopDetail({ store }, query)).rejects.toMatchObject({ code: "stopNotFound" });
  });
});
