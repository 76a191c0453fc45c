/**
 * What a stop that has passed the XSD means: the same canonical form and the same rules as for one that came as JSON
 * (instants made local, coordinates in their range, no window that ends before it begins), with faults that name elements.
 */
import { normaliseStop } from "../domain/normalise-stop.ts";
import { type Stop, validateStop } from "../domain/stop.ts";
import type { Fault } from "../lib/errors.ts";
import { indexedPath, placesOf } from "./element-places.ts";
import type { StopElement } from "./stop-element.ts";
import { stopElements } from "./stop-elements.ts";
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

/** The elements that a canonical path leads to; as far as they are known. */
function elementsOf(path: string, places: FieldPlaces): string {
  const value = places.values.get(path);
  if (value !== undefined) return value;
  const [, name = "", index = "0", rest = ""] = listStep.exec(path) ?? [];
  const list = places.lists.get(name);
  if (list === undefined) return "";
  const inner = elementsOf(rest, list.item);
  return `${list.elements}[${Number(index) + 1}]${inner === "" ? "" : `/${inner}`}`;
}

/** The fault as the sender of XML knows its place and its field. */
function inElements(fault: Fault, base: string): Fault {
  const elements = elementsOf(fault.path ?? "", stopPlaces);
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
  const stop = normaliseStop(read);
  const faults = validateStop(stop, "").map((fault) => inElements(fault, path));
  return { stop: asStop(stop), faults };
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
