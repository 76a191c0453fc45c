/** Points on the earth and the way between them. */
export interface GeoPoint {
  readonly latitude: number;
  readonly longitude: number;
}

const earthRadiusMetres = 6_371_008.8;

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

/** The great-circle distance between two points in metres, on a sphere of the earth's mean radius. */
export function distanceMetres(from: GeoPoint, to: GeoPoint): number {
  const latitude = radians(to.latitude - from.latitude);
  const longitude = radians(to.longitude - from.longitude);
  const haversine =
    Math.sin(latitude / 2) ** 2 +
    Math.cos(radians(from.latitude)) * Math.cos(radians(to.latitude)) * Math.sin(longitude / 2) ** 2;
  return 2 * earthRadiusMetres * Math.asin(Math.min(1, Math.sqrt(haversine)));
}

/** The point of coordinates as they are sent; undefined when one of them is absent. */
export function pointOf(place: {
  readonly latitude?: unknown;
  readonly longitude?: unknown;
}): GeoPoint | undefined {
  const { latitude, longitude } = place;
  if (typeof latitude !== "number" || typeof longitude !== "number") return undefined;
  return { latitude, longitude };
}
