/** Planned and actual times of visits, in the viewer's zone and in that of the stop. */
import { localTimeOf } from "../../../../../domain/time/zoned-time.ts";
import type { Address } from "../../../../../domain/stop/party.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { shortened } from "../../kit/shown-text.ts";
import { timeText, timeWithLocal } from "../../kit/times.ts";
import { knownZone } from "../../pictures/time-axis.ts";
import { words } from "../../words/words.ts";
import type { VisitView } from "./stop-view.ts";

const said = words.stop;

/** The address in a line. */
function addressText({ name, addr1, addr2, zip, city, state, country }: Address): string {
  return [name, addr1, addr2, [zip, city].filter(Boolean).join(" "), state, country]
    .filter((part) => part !== undefined && part !== "")
    .join(", ");
}

/** The address in a cell wide enough to read it. */
export function addressCell(address: Address): Html {
  return html`<span class="address">${shortened(addressText(address))}</span>`;
}

/** A moment, and beside it the stop's own time; in UTC there is no other. */
export function stopTime(at: number | undefined, zone: string): Html {
  if (at === undefined) return timeText(at);
  const known = knownZone(zone);
  if (known === "UTC" || known === "GMT") return timeText(at);
  return timeWithLocal(at, { text: localTimeOf(at, known).slice(0, 16).replace("T", " "), zone: known });
}

/** Heads of `visitCells`. */
export const visitHead = [
  said.address,
  said.window,
  said.expected,
  said.geofence,
  said.arrived,
  said.confirmed,
  said.departed,
];

function windowOf({ timeFrom, timeTo, zone }: VisitView): Html {
  if (timeTo === undefined) return stopTime(timeFrom, zone);
  return html`${stopTime(timeFrom, zone)} ${said.to} ${stopTime(timeTo, zone)}`;
}

export function visitCells(visit: VisitView): readonly Content[] {
  const { zone, address } = visit;
  const moments = [visit.expectedAt, visit.geofenceAt, visit.arrivedAt, visit.confirmedAt, visit.departedAt];
  return [addressCell(address), windowOf(visit), ...moments.map((at) => stopTime(at, zone))];
}
