/** Which visits a stop has, and where they are (specification/events.md#visits-of-a-stop). */
import type { LoadHeader } from "../load/load.ts";
import type { Address, Party } from "../stop/party.ts";
import { distanceMetres, type GeoPoint, pointOf } from "./geo-point.ts";
import type { StopVisits } from "./route-event-rules.ts";
import type { Stop } from "../stop/stop.ts";

type Origin = Pick<
  LoadHeader,
  | "originAddr1"
  | "originCity"
  | "originState"
  | "originZip"
  | "originCountry"
  | "originLatitude"
  | "originLongitude"
>;

/** White space that is not one blank. */
const wideSpace = /\s\s|[^\S ]/;

function plain(value: unknown): string {
  const text = String(value ?? "")
    .trim()
    .toLowerCase();
  // Mostly there is nothing to replace, and the test costs a tenth.
  return wideSpace.test(text) ? text.replaceAll(/\s+/g, " ") : text;
}

const addressFields = ["addr1", "addr2", "city", "state", "zip", "country", "landmark"] as const;

function hasPlace(address: Address): boolean {
  return pointOf(address) !== undefined || addressFields.some((field) => plain(address[field]) !== "");
}

/** Two points this near are one place: hosts round coordinates differently. */
const samePlaceMetres = 50;

/** The origin of the load as a point. */
export function originPoint(header: Origin): GeoPoint | undefined {
  return pointOf({ latitude: header.originLatitude, longitude: header.originLongitude });
}

/** Whether two addresses agree in a part; undefined unless both name it. */
function isSamePart(one: unknown, other: unknown): boolean | undefined {
  const [first, second] = [plain(one), plain(other)];
  return first === "" || second === "" ? undefined : first === second;
}

/** Whether the address is the origin: by the parts that both name, street or zip among them; else by coordinates. */
function isOrigin(address: Address, header: Origin): boolean {
  const isSameStreet = isSamePart(address.addr1, header.originAddr1);
  const isSameZip = isSamePart(address.zip, header.originZip);
  if (isSameStreet !== undefined || isSameZip !== undefined)
    return (
      isSameStreet !== false &&
      isSameZip !== false &&
      isSamePart(address.city, header.originCity) !== false &&
      isSamePart(address.state, header.originState) !== false &&
      isSamePart(address.country, header.originCountry) !== false
    );
  const [at, origin] = [pointOf(address), originPoint(header)];
  return at !== undefined && origin !== undefined && distanceMetres(at, origin) <= samePlaceMetres;
}

/**
 * The visits of a stop on a load: a pickup part when `stopType` is PU, or when `puConfirmation` is not SKIP and `from`
 * has an address other than the load's origin. A PU stop has no drop-off.
 */
export function visitsOf(
  stop: Pick<Stop, "stopType" | "puConfirmation" | "from">,
  header: Origin,
): StopVisits {
  const type = plain(stop.stopType);
  if (type === "pu" || type === "01") return "pickupOnly";
  const from = stop.from?.address;
  if (plain(stop.puConfirmation) === "skip" || from === undefined || !hasPlace(from)) return "dropoffOnly";
  return isOrigin(from, header) ? "dropoffOnly" : "pickupAndDropoff";
}

/** The party of a visit. A stop of the type PU may carry its one address in `to`, as stop files do. */
export function partyOf(
  stop: Pick<Stop, "from" | "to">,
  visits: StopVisits,
  party: "from" | "to",
): Party | undefined {
  if (visits !== "pickupOnly") return stop[party];
  const hasFrom = stop.from?.address !== undefined && hasPlace(stop.from.address);
  return hasFrom ? stop.from : stop.to;
}

/** Where a visit of the stop is, when its address has coordinates. */
export function placeOf(
  stop: Pick<Stop, "from" | "to">,
  visits: StopVisits,
  party: "from" | "to",
): GeoPoint | undefined {
  return pointOf(partyOf(stop, visits, party)?.address ?? {});
}

/** Whether the load is completed only when it is back at the depot. */
export function mustReturnToDepot({ returnToDepot }: Pick<LoadHeader, "returnToDepot">): boolean {
  return !["", "never", "no", "n", "false", "0"].includes(plain(returnToDepot));
}
