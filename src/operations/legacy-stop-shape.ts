/** The shape of a stop in the legacy JSON retrieval (interface 4.10): what is given back, and by which names it is filtered. */
import type { Stop } from "../domain/stop.ts";
import type { StoredStop } from "../store/stop-queries.ts";
import { documentsWithoutContent } from "./stop-detail.ts";

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const localDateTime = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d:\d\d)$/;

/** `2026-11-05T08:00:00` as `Nov 5, 2026 8:00:00 AM`; a text of another form as it is. */
export function legacyDateTime(text: string): string {
  const parts = localDateTime.exec(text);
  if (parts === null) return text;
  const [, year, month, day, hour, minuteAndSecond] = parts;
  const hours = Number(hour);
  const half = hours < 12 ? "AM" : "PM";
  return `${months[Number(month) - 1]} ${Number(day)}, ${year} ${hours % 12 === 0 ? 12 : hours % 12}:${minuteAndSecond} ${half}`;
}

type TextOrNumber = string | number | undefined;

/** A typed client breaks on text where the interface says number: what is no number is left out. */
function numberOf(value: TextOrNumber): number | undefined {
  if (value === undefined || String(value).trim() === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function dateOf(value: string | undefined): string | undefined {
  return value === undefined ? undefined : legacyDateTime(value);
}

function measured(value: TextOrNumber, uom: string | undefined) {
  return value === undefined ? undefined : { uom, value };
}

function detailOf(detail: NonNullable<Stop["stopDetails"]>[number]) {
  return {
    product: detail.product,
    productIdentifier: detail.productIdentifier,
    quantity: measured(detail.quantity, detail.quantityUOM),
    weight: measured(detail.weight, detail.weightUOM),
    volume: detail.volume === undefined ? undefined : { value: detail.volume },
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
export function legacyStop(stored: StoredStop) {
  const stop = JSON.parse(stored.body) as Stop;
  return {
    stopNbr: stored.stopNbr,
    status: stored.status,
    stopSeq: numberOf(stop.stopSeq),
    shipmentNbr: stop.shipmentNbr,
    bol: stop.bol,
    signatureRequired: stop.to?.signatureRequired,
    ...addressesOf(stop),
    earliestStartDttm: dateOf(stop.to?.schedule?.timeFrom),
    latestStartDttm: dateOf(stop.to?.schedule?.timeTo),
    totalPallets: numberOf(stop.totalPallets),
    totalCartons: numberOf(stop.totalCartons),
    sealNbr: stop.sealNbr,
    reference1: stop.reference1,
    reference2: stop.reference2,
    documents: documentsWithoutContent(stop.documents ?? []),
    stopDetails: (stop.stopDetails ?? []).map(detailOf),
  };
}

export type LegacyStop = ReturnType<typeof legacyStop>;

/** Where fields stand in the shape; `true` is a field with a value. */
export interface FieldTree {
  readonly [name: string]: true | FieldTree;
}

function leaves<Name extends string>(...names: Name[]): Readonly<Record<Name, true>> {
  return Object.fromEntries(names.map((name) => [name, true])) as Readonly<Record<Name, true>>;
}

const loadHeaderFields: FieldTree = {
  ...leaves(
    "loadId",
    "loadNbr",
    "status",
    "origin",
    "originName",
    "originAddr1",
    "originAddr2",
    "originCity",
  ),
  ...leaves("originState", "originZip", "originCountry", "totalStops", "reference", "assignedDriver"),
  weight: leaves("value"),
  volume: leaves("value"),
  companyId: leaves("companyId", "companyName", "address1", "address2", "city", "state", "zip"),
};

const documentFields: FieldTree = {
  ...leaves("description", "dispositionType", "documentExtType", "documentName", "documentType"),
  ...leaves("documentCategory", "reference"),
  docSignatories: leaves("role", "signatoryName", "optional"),
};

/** Every field of the shape, at its place. */
export const legacyStopFields: FieldTree = {
  loadId: { loadHeader: loadHeaderFields },
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
