/** Whether all that was found is one thing: a stop with its order, its files and its deliveries is one. */
import type { FindFound, FoundStop, Meant } from "../../../endpoints/http/console/pages/find/find-view.ts";
import { stopNumberForms } from "../../../domain/files/stop-number-in-name.ts";

type Found = Pick<FindFound, "files" | "stops" | "loads" | "orders" | "deliveries" | "documents">;

/** Whether a name begins with the number of the stop. */
function isNamedFor({ stopNbr }: FoundStop, name: string): boolean {
  return stopNumberForms(stopNbr).some((number) => name.startsWith(`${number}_`));
}

function isAllOf(stop: FoundStop, { files, orders, deliveries, loads, documents }: Found): boolean {
  return (
    loads.length + documents.length === 0 &&
    files.every(
      ({ company, stopNbr, name }) =>
        company === stop.company && (stopNbr === stop.stopNbr || isNamedFor(stop, name)),
    ) &&
    orders.every(({ company, orderNbr }) => company === stop.company && orderNbr === stop.stopNbr) &&
    deliveries.every(({ company, name }) => company === stop.company && isNamedFor(stop, name))
  );
}

/** The one thing; null when there are several, or none that has a page. */
export function whatIsMeant(found: Found): Meant | null {
  const { files, stops, loads, orders, deliveries, documents } = found;
  const [stop, ...otherStops] = stops;
  if (stop !== undefined)
    return otherStops.length === 0 && isAllOf(stop, found)
      ? { kind: "stop", company: stop.company, number: stop.stopNbr }
      : null;
  const [file] = files;
  const [load] = loads;
  const [delivery] = deliveries;
  const hits = files.length + loads.length + orders.length + deliveries.length + documents.length;
  if (hits !== 1) return null;
  if (file !== undefined) return { kind: "file", reference: file.reference };
  if (load !== undefined) return { kind: "load", company: load.company, number: load.loadNbr };
  return delivery === undefined ? null : { kind: "delivery", guid: delivery.guid };
}
