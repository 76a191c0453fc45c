import type { StopRecord } from "../../src/store/stops/stops.ts";

/** A stop as its first import leaves it, when that says nothing but its number. */
export const plainStop: Omit<StopRecord, "companyId" | "stopNbr" | "body"> = {
  ...{ status: "10", receiveStatus: "00", receiveDttm: null },
  ...{ carrierCode: null, assignmentCriteria: null, loadId: null, loadPosition: null },
  ...{ listedPosition: null, stopSeq: null },
  ...{ fileTime: null, createdAt: 1, updatedAt: 1, execution: "{}", routed: null },
  ...{ shipmentNbr: null, sealNbr: null, bol: null, reference1: null, reference2: null },
};
