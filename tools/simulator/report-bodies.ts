/** What a driver's device sends: stamps, quantities, exceptions, documents (specification/events.md#objects). */
import type { DocumentObject } from "../../src/domain/documents/document-object.ts";
import type { GeoPoint } from "../../src/domain/execution/geo-point.ts";
import type { ReportedDetail, StopEventData } from "../../src/domain/execution/route-event.ts";
import type { Confirmed } from "../../src/domain/stop/stop-detail.ts";
import type { Stop } from "../../src/domain/stop/stop.ts";
import { localTimeOf } from "../../src/domain/time/zoned-time.ts";
import type { Random } from "./random.ts";
import { people, pointNear } from "./region.ts";
import { notePdf, signaturePng } from "./sample-documents.ts";

/** How far off a device sees itself, in degrees: about 40 m. */
const deviceError = 0.0004;

/** Where and when, as the device knows it; some devices send coordinates as text. */
export function geoStampOf(
  at: number,
  zone: string,
  place: { readonly point: GeoPoint; readonly random: Random },
) {
  const { point, random } = place;
  const { latitude, longitude } = pointNear(point, deviceError, random);
  const isText = random.chance(0.1);
  return {
    eventDTTM: localTimeOf(at, zone),
    eventTz: zone,
    latitude: isText ? String(latitude) : latitude,
    longitude: isText ? String(longitude) : longitude,
  };
}

export interface Confirmation {
  readonly stopDetails: readonly ReportedDetail[];
  /** The same by the details of the stop, without what names them. */
  readonly confirmed: readonly Confirmed[];
  readonly isShort: boolean;
}

/** Some of a detail missing or damaged, in one of eight. */
function shortfallOf(quantity: number, random: Random) {
  if (!random.chance(0.12)) return { quantity, why: {} };
  const isDamaged = random.chance(0.4);
  return {
    quantity: Math.max(0, quantity - random.whole(1, 3)),
    why: isDamaged
      ? { exceptionReasonCode: "DAMAGED", exceptionComments: "packaging open, customer keeps the rest" }
      : { exceptionReasonCode: "SHORT", exceptionComments: "fewer than ordered" },
  };
}

/** Quantities of all details of the stop, at its pickup or its drop-off. */
export function confirmationOf(stop: Stop, party: "from" | "to", random: Random): Confirmation {
  const details = stop.stopDetails ?? [];
  const isByProduct = random.chance(0.3);
  const confirmed = details.map((detail): Confirmed => {
    const { quantity, why } = shortfallOf(Number(detail.quantity), random);
    return party === "from"
      ? { puConfirmedQty: quantity, puScannedQty: quantity, ...why }
      : { confirmedQty: quantity, scannedQty: quantity, ...why };
  });
  const stopDetails = details.map(({ stopDetailSeq, productIdentifier }, index): ReportedDetail => {
    const name =
      isByProduct && productIdentifier !== undefined
        ? { productIdentifier }
        : { stopDetailSeq: stopDetailSeq ?? index + 1 };
    return { ...name, ...confirmed[index] };
  });
  return { stopDetails, confirmed, isShort: confirmed.some((one) => one.exceptionReasonCode !== undefined) };
}

function signature(stopNbr: string, random: Random): DocumentObject {
  return {
    documentName: `signature-${stopNbr}.png`,
    documentType: "SIGNATURE",
    documentExtType: "png",
    documentData: signaturePng(random).toString("base64"),
    docSignatories: [{ role: "CUSTOMER", signatoryName: random.pick(people), optional: false }],
  };
}

function deliveryNote({ stopNbr, stopDetails = [] }: Stop): DocumentObject {
  const lines = stopDetails.map(
    ({ quantity, quantityUOM, product }) => `${quantity} ${quantityUOM} ${product}`,
  );
  return {
    documentName: `note-${stopNbr}.pdf`,
    documentType: "DELIVERY_NOTE",
    documentExtType: "pdf",
    documentData: notePdf([`Delivery note ${stopNbr}`, "", ...lines]).toString("base64"),
  };
}

/** A signature at most drop-offs, and now and then the delivery note with it. */
export function documentsOf(stop: Stop, random: Random): readonly DocumentObject[] {
  if (!random.chance(0.8)) return [];
  const signed = signature(stop.stopNbr, random);
  return random.chance(0.25) ? [signed, deliveryNote(stop)] : [signed];
}

type Closing = Pick<StopEventData, "exceptionCode" | "exceptionDesc" | "reasonCode" | "reasonComments">;

/** Why a stop could not be done, in the words of the driver. */
export function closingOf(random: Random): Closing {
  const closings: readonly [Closing, ...Closing[]] = [
    { exceptionCode: "CLOSED", exceptionDesc: "shop closed" },
    { reasonCode: "NOBODY", reasonComments: "customer unavailable, rang twice" },
    { exceptionCode: "REFUSED", exceptionDesc: "customer refuses the delivery" },
  ];
  return random.pick(closings);
}
