/**
 * What a stop that has passed the XSD means: the same canonical form and the same rules as for one that came as JSON
 * (instants made local, coordinates in their range, no window that ends before it begins), with faults that name elements.
 */
import { normaliseStop } from "../../domain/stop/normalise-stop.ts";
import { validateStop, isOfAbsence, type Stop } from "../../domain/stop/stop.ts";
import type { Fault } from "../../lib/errors.ts";
import { indexedPath, placesOf } from "./element-places.ts";
import type { StopElement } from "../elements/stop-element.ts";
import { stopElements } from "../elements/stop-elements.ts";
import { itemPlace } from "./field-reader.ts";
import { asStop } from "./stop-reader.ts";

/** The elements of a field, from the one that holds the object: `to.schedule.timeFrom` is `EarliestStartDTTM`. */
interface FieldPlaces {
  readonly values: Map<string, string>;
  readonly lists: Map<string, { readonly elements: string; readonly item: FieldPlaces }>;
}

function placesIn(elements: readonly StopElement[], before = "", places?: FieldPlaces): FieldPlaces {
  const found: FieldPlaces = places ?? { values: new Map(), lists: new Map() };
  for (const element of elements) {
    const { name } = element;
    if (element.shape === "value") {
      found.values.set(element.path, `${before}${name}`);
      if (element.attribute !== undefined) found.values.set(element.attribute.path, `${before}${name}`);
    } else if (element.shape === "object") placesIn(element.children, `${before}${name}/`, found);
    else {
      const item = placesIn(element.item.children);
      for (const path of [element.item.content?.path, element.item.content?.attribute?.path])
        if (path !== undefined) item.values.set(path, "");
      found.lists.set(element.path, { elements: `${before}${name}/${element.item.name}`, item });
    }
  }
  return found;
}

const stopPlaces = placesIn(stopElements);
const listStep = /^(\w+)\[(\d+)\](?:\.(.*))?$/;

/** The elements that a canonical path leads to in what was read; as far as they are known. */
function elementsOf(path: string, places: FieldPlaces, read: unknown): string {
  const value = places.values.get(path);
  if (value !== undefined) return value;
  const [, name = "", index = "0", rest = ""] = listStep.exec(path) ?? [];
  const list = places.lists.get(name);
  if (list === undefined) return "";
  const items = (read as Readonly<Record<string, unknown>> | undefined)?.[name];
  const inner = elementsOf(rest, list.item, Array.isArray(items) ? items[Number(index)] : undefined);
  return `${list.elements}[${itemPlace(items, Number(index))}]${inner === "" ? "" : `/${inner}`}`;
}

/** The fault as the sender of XML knows its place and its field. */
function inElements(fault: Fault, base: string, read: unknown): Fault {
  const elements = elementsOf(fault.path ?? "", stopPlaces, read);
  if (elements === "") return { ...fault, path: base };
  const name = elements.slice(elements.lastIndexOf("/") + 1);
  const message = fault.message.replace(fault.path ?? "", name);
  return { ...fault, message, path: `${base}/${elements}` };
}

export interface MeantStop {
  readonly stop: Stop;
  readonly faults: readonly Fault[];
}

/** The canonical stop of what was read, and what is wrong with it; `path` is that of its element, `/Stops/Stop[2]`. */
export function meaningOf(read: Readonly<Record<string, unknown>>, path: string): MeantStop {
  const stop = asStop(normaliseStop(read));
  const faults = validateStop(stop, "").map((fault) => inElements(fault, path, read));
  return { stop, faults };
}

/** The path of the element of a stop, the n-th from 0. */
export function pathOfStop(root: string, index: number): string {
  return root === "Stop" ? "/Stop" : `/Stops/Stop[${index + 1}]`;
}

/** Without the index of the last step: of an element that stands there twice nobody knows which one was meant. */
function placeAmong(path: string): string {
  return indexedPath(path).replace(/\[\d+\]$/, "");
}

/** Whether a fault of meaning follows from one that was already reported. */
function isConsequence(fault: Fault, told: readonly string[]): boolean {
  // The XSD reports missing elements.
  if (isOfAbsence(fault)) return true;
  const place = placeAmong(fault.path ?? "");
  if (told.some((other) => place === other || place.startsWith(`${other}[`))) return true;
  if (fault.code !== "badDate") return false;
  // An instant needs the zone beside it, and the end of a window its begin.
  const begin = place.replace("Latest", "Earliest");
  return told.some((other) => other.endsWith("TimeZone") || other === begin);
}

/**
 * What is wrong with the meaning of a stop that has other faults already: only what would be wrong without them too, so that
 * its sender has all of it at once.
 */
export function meaningBeside(
  read: Readonly<Record<string, unknown>>,
  path: string,
  told: readonly Fault[],
): readonly Fault[] {
  const base = indexedPath(path);
  const places = told
    .map((fault) => placeAmong(fault.path ?? ""))
    .filter((place) => place.startsWith(`${base}/`));
  return meaningOf(read, path).faults.filter((fault) => !isConsequence(fault, places));
}

/** The faults with the lines of their elements, from the top; `text` is that of the document. */
export function withLines(faults: readonly Fault[], text: string): readonly Fault[] {
  const keyOf = ({ path = "" }: Fault) => indexedPath(path);
  const places = placesOf(text, new Set(faults.map(keyOf)));
  const placed = faults.map((fault) => {
    const place = places.get(keyOf(fault));
    return place === undefined ? fault : { ...fault, path: place.path, line: place.line };
  });
  return placed.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
}
