/** Stops and loads in JSON, as hosts send them to the gateway. */
import type { Load } from "../src/domain/load/load.ts";
import type { Stop } from "../src/domain/stop/stop.ts";

function address(name: string) {
  return {
    ...{ name, addr1: "1 Main Street", city: "Atlanta", state: "GA", zip: "30301", country: "US" },
    ...{ latitude: 33.749, longitude: -84.388 },
  };
}

const contact = { contactName: "Jo Doe", email: "jo.doe@example.com", phone: "404-555-0100" };

function detail(index: number): NonNullable<Stop["stopDetails"]>[number] {
  return {
    ...{
      stopDetailSeq: index,
      product: `Product number ${index}`,
      productIdentifier: `PID-000${index}-4711`,
    },
    ...{
      quantity: index,
      quantityUOM: "cartons",
      weight: 12.5,
      weightUOM: "LB",
      volume: 0.8,
      volumeUOM: "CBM",
    },
    ...{ customerOrderNbr: "CO-99887766", customerPO: "PO-5544332211", palletID: `PAL-${index}` },
    ...{ orderDate: "2026-11-01", deliveryType: "DO" },
  };
}

/** Products of a stop of about 4 KB, and of one of about 1.5 KB. */
export const products = { large: 10, small: 2 } as const;

/** A stop with that many products. */
export function jsonStop(stopNbr: string, details: number): Stop {
  const window = { timeFrom: "2026-11-05T08:00:00", timeTo: "2026-11-05T12:00:00" };
  return {
    ...{ stopNbr, stopSeq: 1, stopType: "DO", shipmentNbr: `S${stopNbr}` },
    from: { address: address("Warehouse 7"), contact },
    to: {
      address: address("Customer & Sons"),
      contact,
      schedule: { ...window, timeZone: "America/New_York", estimatedDuration: "15" },
      signatureRequired: true,
    },
    ...{ totalCartons: "5", totalPallets: 2, volume: 3.5, volumeUOM: "CBM", weight: "120", weightUOM: "LB" },
    comments: [{ commentType: "DRV", commentDescription: "Ring the bell twice, then wait for the gate." }],
    customAttributes: [{ keyField: "region", keyValue: "south-east" }],
    stopDetails: Array.from({ length: details }, (_, index) => detail(index + 1)),
  };
}

/** The header of a load. */
export function jsonLoadHeader(loadNbr: string): Load["loadHeader"] {
  return {
    ...{ loadNbr, earliestStartDttm: "2026-11-05T06:00:00", latestStartDttm: "2026-11-05T07:00:00" },
    ...{ originName: "Warehouse 7", originAddr1: "1 Main Street", originCity: "Atlanta", originState: "GA" },
    ...{ originZip: "30301", originCountry: "US", loadTimeZone: "America/New_York" },
    ...{ tractorNbr: "T-11", trailerNbr: "TR-22", reference: `R${loadNbr}`, totalCartons: 50, weight: 1_200 },
    comments: [{ commentType: "DRV", commentDescription: "Fuel up before the start." }],
  };
}

/** Stops of each load. */
export const stopsOnLoad = 10;

/** What stands in a sample in place of its number, for a text that is cut there. */
export const numberMark = "#";

/** The sample as JSON text, cut where its number stands: `join` it with one. */
export function partsOf(sample: unknown): readonly string[] {
  return JSON.stringify(sample).split(numberMark);
}
