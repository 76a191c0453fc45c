/**
 * The shape of a stop in the legacy JSON retrieval (specification/legacy-services.md#stop): the fields of the result,
 * and the names to filter by.
 */
import type { Stop } from "../../domain/stop/stop.ts";
import type { StoredStop } from "../../store/stops/stop-queries.ts";
import { type LegacyLoadHeader, legacyLoadHeaderFields } from "./legacy-load-shape.ts";
import { type FieldTree, leaves, legacyDateTime, numberOf, type TextOrNumber } from "./legacy-shape.ts";
import { documentsWithoutContent, withExecution } from "../stops/stop-detail.ts";

/** The value is a number whatever way the stop came in: hosts and files write it as text or as a number. */
function measured(value: TextOrNumber, uom?: string) {
  const number = numberOf(value);
  return number === undefined ? undefined : { uom, value: number };
}

function detailOf(detail: NonNullable<Stop["stopDetails"]>[number]) {
  return {
    product: detail.product,
    productIdentifier: detail.productIdentifier,
    quantity: measured(detail.quantity, detail.quantityUOM),
    weight: measured(detail.weight, detail.weightUOM),
    volume: measured(detail.volume),
  };
}

function addressesOf(stop: Stop) {
  const shipTo = stop.to?.address;
  return {
    shipToName: shipTo?.name,
    shipToAddr1: shipTo?.addr1,
    shipToAddr2: shipTo?.addr2,
    shipToCity: shipTo?.city,
    shipToState: shipTo?.state,
    shipToZip: shipTo?.zip,
    billToName: stop.billTo?.name,
    billToAddr1: stop.billTo?.addr1,
    billToCity: stop.billTo?.city,
    billToState: stop.billTo?.state,
    billToZip: stop.billTo?.zip,
    billToCountry: stop.billTo?.country,
  };
}

/**
 * The stop in legacy shape; what is not known is undefined and so absent in JSON. `loadId` is absent while the stop is
 * on no load. `reference1` and `reference2` are ours: filters on them are asked for, and a filter is a field of the result.
 */
export function legacyStop(stored: StoredStop, loadHeader?: LegacyLoadHeader) {
  const stop = withExecution(JSON.parse(stored.body) as Stop, stored.execution);
  return {
    loadId: loadHeader === undefined ? undefined : { loadHeader },
    stopNbr: stored.stopNbr,
    status: stored.status,
    stopSeq: numberOf(stop.stopSeq),
    shipmentNbr: stop.shipmentNbr,
    bol: stop.bol,
    signatureRequired: stop.to?.signatureRequired,
    ...addressesOf(stop),
    earliestStartDttm: legacyDateTime(stop.to?.schedule?.timeFrom),
    latestStartDttm: legacyDateTime(stop.to?.schedule?.timeTo),
    totalPallets: numberOf(stop.totalPallets),
    totalCartons: numberOf(stop.totalCartons),
    sealNbr: stop.sealNbr,
    reference1: stop.reference1,
    reference2: stop.reference2,
    documents: documentsWithoutContent(stop.documents ?? []),
    stopDetails: (stop.stopDetails ?? []).map(detailOf),
  };
}

const documentFields: FieldTree = {
  ...leaves("description", "dispositionType", "documentExtType", "documentName", "documentType"),
  ...leaves("documentCategory", "reference"),
  docSignatories: leaves("role", "signatoryName", "optional"),
};

/** Every field of the shape, at its place. */
export const legacyStopFields: FieldTree = {
  loadId: { loadHeader: legacyLoadHeaderFields },
  ...leaves("stopNbr", "status", "stopSeq", "shipmentNbr", "bol", "signatureRequired"),
  ...leaves("shipToName", "shipToAddr1", "shipToAddr2", "shipToCity", "shipToState", "shipToZip"),
  ...leaves("billToName", "billToAddr1", "billToCity", "billToState", "billToZip", "billToCountry"),
  ...leaves("earliestStartDttm", "latestStartDttm", "totalPallets", "totalCartons"),
  ...leaves("sealNbr", "reference1", "reference2"),
  documents: documentFields,
  stopDetails: {
    ...leaves("product", "productIdentifier"),
    quantity: leaves("uom", "value"),
    weight: leaves("uom", "value"),
    volume: leaves("value"),
  },
};
