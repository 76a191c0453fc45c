/** The route of a load as a picture and as a table. */
import { distanceMetres, type GeoPoint } from "../../../../../domain/execution/geo-point.ts";
import { isoTime } from "../../../../../lib/iso-time.ts";
import { countText } from "../../kit/amounts.ts";
import { type Html, html } from "../../kit/html.ts";
import { type Addresses, link } from "../../kit/link.ts";
import { nothing } from "../../kit/notice.ts";
import { section } from "../../kit/section.ts";
import { shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { lengthText } from "../../pictures/local-projection.ts";
import { type RouteVisit, routePicture } from "../../pictures/route-picture.ts";
import { words } from "../../words/words.ts";
import { addressCell } from "../stop/visit-table.ts";
import { isLateOnLoad, type PlacedVisit, visitLabel, visitsOfLoad } from "./load-day.ts";
import type { LoadFound } from "./load-view.ts";

const said = words.load;

function routeVisit(placed: PlacedVisit, now: number): readonly RouteVisit[] {
  const { place, radiusMetres, arrivedAt } = placed.visit;
  if (place === undefined) return [];
  const kind = isLateOnLoad(placed, now) ? "bad" : arrivedAt === undefined ? "open" : "done";
  return [{ place, label: visitLabel(placed), mark: String(placed.number), radiusMetres, kind }];
}

function coordinates({ latitude, longitude }: GeoPoint): string {
  return said.coordinates(latitude.toFixed(5), longitude.toFixed(5));
}

function placesTable(load: LoadFound, to: Addresses): Html {
  const { company, last } = load;
  const rows = visitsOfLoad(load).map(({ stop, number, visit }) => {
    const { place, radiusMetres, address, party } = visit;
    const from = place === undefined || last === undefined ? undefined : distanceMetres(last.place, place);
    return [
      html`${number}. ${link(to.stop(company, stop.stopNbr), shown(stop.stopNbr))}`,
      words.stop.visits[party],
      addressCell(address),
      place === undefined ? undefined : coordinates(place),
      place === undefined ? undefined : lengthText(radiusMetres),
      from === undefined ? undefined : lengthText(from),
    ];
  });
  const head = [said.stop, words.stop.visit, words.stop.address, said.place, said.radius, said.distance];
  return table(head, rows, { caption: said.routeCaption, empty: said.noStops, isCaptionHidden: true });
}

export function routeSection(
  load: LoadFound,
  { now, to }: { readonly now: number; readonly to: Addresses },
): Html {
  const { origin, track, last, positions } = load;
  const visits = visitsOfLoad(load).flatMap((visit) => routeVisit(visit, now));
  const picture = routePicture(
    { id: "load-route", title: said.route, description: said.routeDescription(visits.length, positions) },
    {
      visits,
      track: track.map(({ place }) => place),
      ...(origin?.place === undefined ? {} : { origin: { place: origin.place, label: said.originLabel } }),
      ...(last === undefined
        ? {}
        : {
            last: {
              place: last.place,
              label: said.lastLabel(isoTime(last.at).slice(0, 19).replace("T", " ")),
            },
          }),
    },
  );
  return section(
    said.route,
    [
      picture ?? nothing(said.noRoute),
      html`<p>${said.positions(countText(positions))}</p>`,
      placesTable(load, to),
    ],
    { id: "route" },
  );
}
