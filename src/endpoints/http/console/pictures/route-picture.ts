/** The route of a load on a plain ground: its visits with their geofences, the way that was reported, and a scale. */
import type { GeoPoint } from "../../../../domain/execution/geo-point.ts";
import { type Html, html } from "../kit/html.ts";
import { type FlatPoint, lengthText, localProjection, middleOf, roundLength } from "./local-projection.ts";
import { words } from "../words/words.ts";
import { labelText, type PictureFrame, scaledPicture, units } from "./picture.ts";

export interface RouteVisit {
  readonly place: GeoPoint;
  readonly label: string;
  /** In the circle; up to three characters are readable. */
  readonly mark: string;
  readonly radiusMetres: number;
  readonly kind: "done" | "bad" | "open";
}

export interface RouteView {
  readonly visits: readonly RouteVisit[];
  readonly origin?: { readonly place: GeoPoint; readonly label: string };
  /** Reported positions, oldest first. */
  readonly track: readonly GeoPoint[];
  /** The last one, with its label. */
  readonly last?: { readonly place: GeoPoint; readonly label: string };
}

const width = 400;
const height = 320;
const margin = 26;
/** The least piece of ground that is shown, metres: a single place has no size. */
const leastMetres = 500;
/** With more visits than this the circles have no text. */
const mostMarked = 80;

interface Ground {
  x(point: GeoPoint): number;
  y(point: GeoPoint): number;
  readonly perMetre: number;
}

/** A geofence counts for the size of the ground, so that it lies in the picture whole. */
function groundOf({ visits, origin, track, last }: RouteView): Ground {
  const around = [origin, last].flatMap((one) => (one === undefined ? [] : [one.place]));
  const points = [...visits.map(({ place }) => place), ...around, ...track];
  const project = localProjection(middleOf(points));
  const box = { west: 0, east: 0, south: 0, north: 0 };
  const include = ({ east, north }: FlatPoint, metres: number) => {
    box.west = Math.min(box.west, east - metres);
    box.east = Math.max(box.east, east + metres);
    box.south = Math.min(box.south, north - metres);
    box.north = Math.max(box.north, north + metres);
  };
  for (const point of points) include(project(point), 0);
  for (const { place, radiusMetres } of visits) include(project(place), radiusMetres);
  const across = Math.max(leastMetres, box.east - box.west);
  const up = Math.max(leastMetres, box.north - box.south);
  const perMetre = Math.min((width - 2 * margin) / across, (height - 3 * margin) / up);
  const [east, north] = [(box.east + box.west) / 2, (box.north + box.south) / 2];
  return {
    perMetre,
    x: (point) => width / 2 + (project(point).east - east) * perMetre,
    y: (point) => (height - margin) / 2 - (project(point).north - north) * perMetre,
  };
}

function placesOf(points: readonly GeoPoint[], ground: Ground): string {
  return points.map((point) => `${units(ground.x(point))},${units(ground.y(point))}`).join(" ");
}

function fence({ place, radiusMetres }: RouteVisit, ground: Ground): Html {
  return html`<circle class="picture-fence" cx="${units(ground.x(place))}" cy="${units(ground.y(place))}" r="${units(radiusMetres * ground.perMetre)}"/>`;
}

function visitMark({ place, label, mark, kind }: RouteVisit, ground: Ground, isMarked: boolean): Html {
  const [x, y] = [units(ground.x(place)), units(ground.y(place))];
  const title = html`<title>${labelText(label, 200)}</title>`;
  if (!isMarked)
    return html`<circle class="picture-mark picture-${kind}" cx="${x}" cy="${y}" r="3">${title}</circle>`;
  return html`<g>${title}<circle class="picture-mark picture-${kind}" cx="${x}" cy="${y}" r="9"/><text class="picture-number" x="${x}" y="${y}" dy="3.5" text-anchor="middle">${labelText(mark, 3)}</text></g>`;
}

function square({ place, label }: { place: GeoPoint; label: string }, ground: Ground): Html {
  const [x, y] = [ground.x(place) - 6, ground.y(place) - 6];
  return html`<rect class="picture-mark picture-origin" x="${units(x)}" y="${units(y)}" width="12" height="12"><title>${labelText(label, 200)}</title></rect>`;
}

function arrow({ place, label }: { place: GeoPoint; label: string }, ground: Ground): Html {
  const [x, y] = [ground.x(place), ground.y(place)];
  return html`<path class="picture-mark picture-here" d="M${units(x)} ${units(y - 10)}L${units(x + 8)} ${units(y + 8)}L${units(x)} ${units(y + 3)}L${units(x - 8)} ${units(y + 8)}Z"><title>${labelText(label, 200)}</title></path>`;
}

function scaleBar({ perMetre }: Ground): Html {
  const metres = roundLength(110 / perMetre);
  const [x, y] = [margin, height - 10];
  const end = units(x + metres * perMetre);
  return html`<path class="picture-scale" d="M${x} ${y - 5}V${y}H${end}V${y - 5}"/><text class="picture-small" x="${x}" y="${y - 9}">${lengthText(metres)}</text><text class="picture-small" x="${width - margin}" y="${y}" text-anchor="end">${words.pictures.north}</text>`;
}

/** The route as a picture; nothing when no place is known. */
export function routePicture(frame: Omit<PictureFrame, "height">, view: RouteView): Html | undefined {
  const { visits, origin, track, last } = view;
  if (visits.length === 0 && track.length === 0 && last === undefined) return undefined;
  const ground = groundOf(view);
  const planned = [...(origin === undefined ? [] : [origin.place]), ...visits.map(({ place }) => place)];
  const isMarked = visits.length <= mostMarked;
  return scaledPicture({ ...frame, width, height }, [
    visits.map((visit) => fence(visit, ground)),
    html`<polyline class="picture-plan" points="${placesOf(planned, ground)}"/>`,
    html`<polyline class="picture-track" points="${placesOf(track, ground)}"/>`,
    origin === undefined ? undefined : square(origin, ground),
    visits.map((visit) => visitMark(visit, ground, isMarked)),
    last === undefined ? undefined : arrow(last, ground),
    scaleBar(ground),
  ]);
}
