/**
 * A flat picture of a part of the earth: azimuthal equidistant around the middle of the points, so that distances from
 * the middle are true, and neither the 180th meridian nor a pole is a seam.
 */
import type { GeoPoint } from "../../../../domain/execution/geo-point.ts";
import { words } from "../words/words.ts";

/** Metres east and north of the middle. */
export interface FlatPoint {
  readonly east: number;
  readonly north: number;
}

const earthRadiusMetres = 6_371_008.8;
const radiansOf = (degrees: number) => (degrees * Math.PI) / 180;
const degreesOf = (radians: number) => (radians * 180) / Math.PI;

/** The middle of points on the globe; the first of them when they lie around it on all sides. */
export function middleOf(points: readonly GeoPoint[]): GeoPoint {
  let [x, y, z] = [0, 0, 0];
  for (const { latitude, longitude } of points) {
    const [phi, lambda] = [radiansOf(latitude), radiansOf(longitude)];
    x += Math.cos(phi) * Math.cos(lambda);
    y += Math.cos(phi) * Math.sin(lambda);
    z += Math.sin(phi);
  }
  const length = Math.hypot(x, y, z);
  const [first = { latitude: 0, longitude: 0 }] = points;
  if (length < 1e-9 * Math.max(1, points.length)) return first;
  return {
    latitude: degreesOf(Math.asin(Math.min(1, Math.max(-1, z / length)))),
    longitude: degreesOf(Math.atan2(y, x)),
  };
}

/** From points on the globe to metres around the middle. */
export function localProjection(middle: GeoPoint): (point: GeoPoint) => FlatPoint {
  const phi0 = radiansOf(middle.latitude);
  return ({ latitude, longitude }) => {
    const phi = radiansOf(latitude);
    const lambda = radiansOf(longitude - middle.longitude);
    const cosine = Math.sin(phi0) * Math.sin(phi) + Math.cos(phi0) * Math.cos(phi) * Math.cos(lambda);
    const [east, north] = [
      Math.cos(phi) * Math.sin(lambda),
      Math.cos(phi0) * Math.sin(phi) - Math.sin(phi0) * Math.cos(phi) * Math.cos(lambda),
    ];
    const sine = Math.hypot(east, north);
    // By both: the cosine alone has no digits left for points that are some metres apart.
    const angle = Math.atan2(sine, cosine);
    const scale = sine === 0 ? 0 : (earthRadiusMetres * angle) / sine;
    return { east: east * scale, north: north * scale };
  };
}

/** The longest round length (1, 2 or 5 times a power of ten, metres) that is not longer than this one. */
export function roundLength(metres: number): number {
  const power = 10 ** Math.floor(Math.log10(metres));
  const round = [5, 2, 1].find((factor) => factor * power <= metres) ?? 1;
  return round * power;
}

/** A length for people: `200 m` or `5 km`. */
export function lengthText(metres: number): string {
  const { kilometres, metres: ofMetres } = words.pictures;
  return metres >= 1_000 ? kilometres(Number((metres / 1_000).toFixed(1))) : ofMetres(Math.round(metres));
}
