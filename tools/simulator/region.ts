/** Where the loads of a day are driven: depots with their surroundings, and what is carried. Tables and the dice for them. */
import type { GeoPoint } from "../../src/domain/execution/geo-point.ts";
import type { Address } from "../../src/domain/stop/party.ts";
import type { Random } from "./random.ts";

export interface Region {
  readonly name: string;
  readonly zone: string;
  readonly country: string;
  readonly depot: GeoPoint;
  readonly depotName: string;
  readonly depotStreet: string;
  readonly places: readonly [RegionPlace, ...RegionPlace[]];
  readonly streets: readonly [string, ...string[]];
}

export interface RegionPlace extends GeoPoint {
  readonly city: string;
  readonly state: string;
  readonly zip: string;
}

const americanStreets: Region["streets"] = [
  "Oak Street",
  ...["Main Street", "Maple Avenue", "Washington Street", "Cedar Lane", "Lincoln Avenue"],
  ...["Park Road", "Mill Road", "Church Street", "Highland Drive"],
];

const springfield: Region = {
  name: "Springfield",
  zone: "America/Chicago",
  country: "US",
  depot: { latitude: 39.7392, longitude: -89.6611 },
  depotName: "Springfield Distribution Center",
  depotStreet: "2400 Terminal Avenue",
  places: [
    { city: "Springfield", state: "IL", zip: "62701", latitude: 39.8017, longitude: -89.6436 },
    { city: "Springfield", state: "IL", zip: "62704", latitude: 39.7733, longitude: -89.6875 },
    { city: "Chatham", state: "IL", zip: "62629", latitude: 39.6762, longitude: -89.7045 },
    { city: "Rochester", state: "IL", zip: "62563", latitude: 39.7495, longitude: -89.5318 },
    { city: "Sherman", state: "IL", zip: "62684", latitude: 39.8937, longitude: -89.6048 },
    { city: "Riverton", state: "IL", zip: "62561", latitude: 39.8442, longitude: -89.5395 },
    { city: "Auburn", state: "IL", zip: "62615", latitude: 39.5917, longitude: -89.7465 },
  ],
  streets: americanStreets,
};

const denver: Region = {
  name: "Denver",
  zone: "America/Denver",
  country: "US",
  depot: { latitude: 39.7799, longitude: -104.8906 },
  depotName: "Denver Cross Dock",
  depotStreet: "5050 Havana Street",
  places: [
    { city: "Denver", state: "CO", zip: "80202", latitude: 39.7527, longitude: -104.9992 },
    { city: "Denver", state: "CO", zip: "80210", latitude: 39.6789, longitude: -104.9631 },
    { city: "Aurora", state: "CO", zip: "80012", latitude: 39.6987, longitude: -104.8377 },
    { city: "Lakewood", state: "CO", zip: "80226", latitude: 39.7086, longitude: -105.0774 },
    { city: "Englewood", state: "CO", zip: "80110", latitude: 39.6466, longitude: -105.0087 },
    { city: "Thornton", state: "CO", zip: "80229", latitude: 39.868, longitude: -104.9719 },
  ],
  streets: americanStreets,
};

const hamburg: Region = {
  name: "Hamburg",
  zone: "Europe/Berlin",
  country: "DE",
  depot: { latitude: 53.5148, longitude: 10.0687 },
  depotName: "Lager Billbrook",
  depotStreet: "Liebigstraße 40",
  places: [
    { city: "Hamburg", state: "HH", zip: "20095", latitude: 53.5503, longitude: 10.0006 },
    { city: "Hamburg", state: "HH", zip: "22765", latitude: 53.5516, longitude: 9.9313 },
    { city: "Hamburg", state: "HH", zip: "22303", latitude: 53.5873, longitude: 10.0196 },
    { city: "Hamburg", state: "HH", zip: "21073", latitude: 53.4606, longitude: 9.9831 },
    { city: "Reinbek", state: "SH", zip: "21465", latitude: 53.5121, longitude: 10.2526 },
    { city: "Norderstedt", state: "SH", zip: "22846", latitude: 53.7072, longitude: 9.9887 },
  ],
  streets: ["Lindenstraße", "Bahnhofstraße", "Gartenweg", "Hauptstraße", "Mühlenweg", "Schulstraße"],
};

export const regions = [springfield, denver, hamburg] as const;

/** A coordinate with the six digits, a decimetre, that drivers' devices send. */
export function rounded(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6;
}

/** Half the side, in degrees, of the square around a place in which its addresses lie: about 3 km. */
const spread = 0.027;

/** A point off the given one by at most so many degrees of latitude and longitude. */
export function pointNear({ latitude, longitude }: GeoPoint, degrees: number, random: Random): GeoPoint {
  return {
    latitude: rounded(latitude + random.between(-degrees, degrees)),
    longitude: rounded(longitude + random.between(-degrees, degrees)),
  };
}

/** An address in the region with its coordinates. */
export function addressIn(region: Region, random: Random, name: string): Address & GeoPoint {
  const place = random.pick(region.places);
  const { city, state, zip } = place;
  const street = random.pick(region.streets);
  const number = random.whole(1, 980);
  const addr1 = region.country === "US" ? `${number} ${street}` : `${street} ${number % 120}`;
  return { name, addr1, city, state, zip, country: region.country, ...pointNear(place, spread, random) };
}

export function depotAddress(region: Region): Address & GeoPoint {
  const { city, state, zip } = region.places[0];
  const { depotName: name, depotStreet: addr1, country } = region;
  return { name, addr1, city, state, zip, country, ...region.depot };
}

export interface Product {
  readonly product: string;
  readonly productIdentifier: string;
  readonly quantityUOM: string;
  /** Of one. */
  readonly kilograms: number;
}

export const products: readonly [Product, ...Product[]] = [
  {
    product: "Mineral water 12 x 1 l",
    productIdentifier: "4006381333931",
    quantityUOM: "cartons",
    kilograms: 13,
  },
  {
    product: "Coffee, ground, 500 g",
    productIdentifier: "4006381333948",
    quantityUOM: "pieces",
    kilograms: 0.5,
  },
  {
    product: "Printer paper A4",
    productIdentifier: "4006381333955",
    quantityUOM: "cartons",
    kilograms: 12.5,
  },
  { product: "Washing machine", productIdentifier: "4006381333962", quantityUOM: "pieces", kilograms: 68 },
  { product: "Dining chair", productIdentifier: "4006381333979", quantityUOM: "pieces", kilograms: 6.2 },
  { product: "Mattress 160 x 200", productIdentifier: "4006381333986", quantityUOM: "pieces", kilograms: 31 },
  { product: "Potting soil 40 l", productIdentifier: "4006381333993", quantityUOM: "bags", kilograms: 17 },
];

export const customers: readonly [string, ...string[]] = [
  "Corner Bakery",
  ...["Green Grocer", "Hill Pharmacy", "Miller Hardware", "Sunrise Hotel", "Lake Clinic"],
  ...["Old Town Books", "Garden Centre Vale", "Station Kiosk", "Weber Interiors"],
];

export const people: readonly [string, ...string[]] = [
  "Alex Baker",
  ...["Robin Carter", "Sam Fischer", "Kim Weber", "Chris Vale", "Dana Hill"],
  ...["Jo Lindner", "Pat Meyer", "Toni Grant", "Lee Brook"],
];
