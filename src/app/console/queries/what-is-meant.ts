/**
 * Whether all that was found is one thing: a stop with its order, its files and its deliveries is one. A user, a company, a
 * remote or a target whose name only begins so counts when nothing else was found.
 */
import type { FindFound, FoundStop, Meant } from "../../../endpoints/http/console/pages/find/find-view.ts";
import { stopNumberForms } from "../../../domain/files/stop-number-in-name.ts";

type Found = Pick<FindFound, "files" | "stops" | "loads" | "orders" | "deliveries" | "documents">;
type Names = Pick<FindFound, "users" | "places">;

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

function nameMeant({ users, places }: Names): Meant | null {
  const [user] = users;
  const [place] = places;
  if (users.length + places.length !== 1) return null;
  if (user !== undefined) return { kind: "user", userId: user.userId };
  return place === undefined ? null : { kind: "place", place };
}

/** The one thing that the text means; null when there are several, or none that has a page. */
export function whatIsMeant(found: Found & Names, text: string): Meant | null {
  const { users, places, ...others } = found;
  if (Object.values(others).every((list) => list.length === 0)) return nameMeant({ users, places });
  const isExact = (name: string) => name.toLowerCase() === text.toLowerCase();
  if (users.some(({ userName }) => isExact(userName)) || places.some(({ name }) => isExact(name)))
    return null;
  return thingMeant(found);
}

function thingMeant(found: Found): Meant | null {
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
