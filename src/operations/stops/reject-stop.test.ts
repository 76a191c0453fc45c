import { beforeEach, describe, expect, test } from "vitest";
import { StopSite } from "../../../test/support/stop-site.ts";
import { rejectAsn, rejectStop } from "./reject-stop.ts";

let site: StopSite;

beforeEach(async () => {
  site = await StopSite.open();
});

const inputOf = (body: unknown) => ({ companyId: site.companyId, companyCode: "ACME", body });
const reject = (body: object) => rejectStop(site, inputOf({ reasonCode: "R1", ...body }));
const rejectAsnOf = (body: object) => rejectAsn(site, inputOf({ reasonCode: "R1", ...body }));

describe("a stop that is deleted with a reason", () => {
  test("is cancelled, keeps its file's time and what was done, and tells why and when", async () => {
    const execution = JSON.stringify({ to: { arrivalDTTM: "2026-11-05T07:00:00" } });
    await site.keep("S1", { execution, fileTime: 20261105080000 });
    await reject({ stopNbr: "S1", reasonComments: "no longer wanted" });
    const row = await site.row("S1");
    expect(row).toMatchObject({ stop_status: "99", file_time: 20261105080000, updated_at: site.now });
    expect(JSON.parse(row.execution)).toEqual({
      to: { arrivalDTTM: "2026-11-05T07:00:00" },
      cancellation: {
        ...{ reasonCode: "R1", reasonDesc: "no longer wanted" },
        ...{ cancelDTTM: "2026-11-05T08:00:00", cancelTimeZone: "UTC" },
      },
    });
    expect(await site.events()).toEqual([7059]);
  });

  test("needs no comment", async () => {
    await site.keep("S1", { status: "05" });
    await reject({ stopNbr: "S1" });
    expect(JSON.parse((await site.row("S1")).execution).cancellation).toMatchObject({ reasonDesc: "" });
  });

  test("is no ASN, and no stop that is on its way; each refusal says what to do", async () => {
    for (const [stopNbr, status] of [["A1", "00"] as const, ["S2", "50"] as const])
      await site.keep(stopNbr, { status });
    await expect(reject({ stopNbr: "A1" })).rejects.toMatchObject({
      code: "stopNotOpen",
      message:
        "the stop A1 is 00 (InboundShipment). Only a stop in 05 or 10 can be deleted; cancel or change its load first.",
    });
    await expect(reject({ stopNbr: "S2" })).rejects.toMatchObject({ code: "stopNotOpen" });
    await expect(reject({ stopNbr: "S9" })).rejects.toMatchObject({ code: "stopNotFound" });
    expect((await site.row("A1")).stop_status).toBe("00");
    expect(await site.events()).toEqual([]);
  });

  test("is named with a reason: without either nothing is looked for", async () => {
    await expect(rejectStop(site, inputOf({}))).rejects.toMatchObject({
      faults: [
        { code: "missing", path: "stopNbr" },
        { code: "missing", path: "reasonCode" },
      ],
    });
  });
});

describe("an ASN that is deleted with a reason", () => {
  test("is cancelled; a stop is none, and is told where it can be deleted", async () => {
    await site.keep("A1", { status: "00" });
    await site.keep("S1");
    await rejectAsnOf({ stopNbr: "A1" });
    expect((await site.row("A1")).stop_status).toBe("99");
    expect(await site.events()).toEqual([7059]);
    await expect(rejectAsnOf({ stopNbr: "S1" })).rejects.toMatchObject({
      code: "stopNotAsn",
      message:
        "the stop S1 is 10 (unplanned). Only an ASN in 00 can be deleted; delete a stop with /stop/cancel.",
    });
  });
});
