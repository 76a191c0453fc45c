/**
 * Makes canonical stops from the text of a well-formed document, by the table of elements. It runs before the XSD is
 * checked, so it passes over what does not belong: what it made counts only once the document is known to be valid. In
 * the same pass it holds the document to its limits, so that no huge document reaches the XSD check.
 */
import type { Stop } from "../../domain/stop/stop.ts";
import type { Fault } from "../../lib/errors.ts";
import type { ListItem, StopElement } from "../elements/stop-element.ts";
import { functionElement, stopElements } from "../elements/stop-elements.ts";
import { unreadable, type ValueKind, valueKindOf } from "../elements/value-kinds.ts";
import { type CursorLimits, XmlCursor, XmlLimitReached } from "../xml/xml-cursor.ts";

export interface ReaderLimits extends CursorLimits {
  readonly maxStops: number;
  readonly maxDetails: number;
}

/** A stop as read; `functionCode` and `stopNbr` are empty when the (then invalid) document lacks them. */
export interface ReadInstruction {
  readonly functionCode: string;
  readonly stopNbr: string;
  readonly stop: Fields;
  readonly line: number;
}

export interface ReadDocument {
  readonly documentId?: string;
  readonly companyCode?: string;
  readonly instructions: readonly ReadInstruction[];
  /** Values that the XSD cannot know to be wrong, such as 30 February. */
  readonly faults: readonly Fault[];
}

type Fields = Record<string, unknown>;
type Plans = ReadonlyMap<string, Plan>;

interface ValuePlan {
  readonly shape: "value";
  readonly steps: readonly string[];
  readonly field: string;
  readonly kind: ValueKind;
  readonly attribute: { readonly name: string; readonly field: string } | undefined;
}
interface ObjectPlan {
  readonly shape: "object";
  readonly children: Plans;
}
interface ListPlan {
  readonly shape: "list";
  readonly field: string;
  readonly itemName: string;
  readonly children: Plans;
  readonly content: ValuePlan | undefined;
}
type Plan = ValuePlan | ObjectPlan | ListPlan;

function planValue(element: StopElement & { shape: "value" }): ValuePlan {
  const parts = element.path.split(".");
  return {
    shape: "value",
    steps: parts.slice(0, -1),
    field: parts.at(-1) ?? "",
    kind: valueKindOf(element.kind),
    attribute:
      element.attribute === undefined
        ? undefined
        : { name: element.attribute.name, field: element.attribute.path },
  };
}

function planList(element: StopElement & { shape: "list" }): ListPlan {
  const item: ListItem = element.item;
  const content = item.content === undefined ? undefined : planValue(item.content);
  return {
    shape: "list",
    field: element.path,
    itemName: item.name,
    children: planAll(item.children),
    content,
  };
}

function planAll(elements: readonly StopElement[]): Plans {
  const plans = new Map<string, Plan>();
  for (const element of elements) {
    if (element.shape === "value") plans.set(element.name, planValue(element));
    else if (element.shape === "object")
      plans.set(element.name, { shape: "object", children: planAll(element.children) });
    else plans.set(element.name, planList(element));
  }
  return plans;
}

const stopPlans = planAll([functionElement, ...stopElements]);
const functionPlan = stopPlans.get(functionElement.name);

/** The object that a value stands in, made on the way when it is not there yet. */
function ownerOf(target: Fields, steps: readonly string[]): Fields {
  let owner = target;
  for (const step of steps) {
    const inner = owner[step];
    if (typeof inner === "object" && inner !== null) owner = inner as Fields;
    else {
      const made: Fields = {};
      owner[step] = made;
      owner = made;
    }
  }
  return owner;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isOfNumber({ path }: Fault): boolean {
  return path?.endsWith("/StopNbr") === true;
}

/** Of lists in which an element with `xsi:nil` stood: for each item its place among the elements, from 1. */
const itemPlaces = new WeakMap<object, readonly number[]>();

/** The place of an item of a list as it was read among the elements of the list, from 1. */
export function itemPlace(list: unknown, index: number): number {
  const places = typeof list === "object" && list !== null ? itemPlaces.get(list) : undefined;
  return places?.[index] ?? index + 1;
}

class StopReader {
  readonly #cursor: XmlCursor;
  readonly #limits: ReaderLimits;
  readonly #instructions: ReadInstruction[] = [];
  readonly #faults: Fault[] = [];
  /** Where the reader is, for the paths of faults: names of the elements that hold the current one. */
  readonly #trail: string[] = [];
  #stopFaults: Fault[] = [];
  #known = { offset: 0, line: 1 };
  #functionCode = "";
  #details = 0;
  #documentId: string | undefined;
  #companyCode: string | undefined;

  constructor(text: string, limits: ReaderLimits) {
    this.#cursor = new XmlCursor(text, limits);
    this.#limits = limits;
  }

  read(): ReadDocument {
    if (this.#cursor.openNext()) {
      if (this.#cursor.name === "Stop") this.#readStop("Stop");
      else if (this.#cursor.name === "Stops") this.#readStops();
      else this.#cursor.skip();
    }
    return {
      ...(this.#documentId === undefined ? {} : { documentId: this.#documentId }),
      ...(this.#companyCode === undefined ? {} : { companyCode: this.#companyCode }),
      instructions: this.#instructions,
      faults: this.#faults,
    };
  }

  lineAt(offset: number): number {
    return this.#cursor.lineAt(offset);
  }

  #readStops(): void {
    const cursor = this.#cursor;
    while (cursor.openNext()) {
      if (cursor.name === "Stop") this.#readStop(`Stops/Stop[${this.#instructions.length + 1}]`);
      else if (cursor.name === "DocumentID") this.#documentId = cursor.leafText().trim() || undefined;
      else if (cursor.name === "CompanyCode") this.#companyCode = cursor.leafText().trim() || undefined;
      else cursor.skip();
    }
  }

  #readStop(path: string): void {
    const start = this.#cursor.start;
    if (this.#instructions.length >= this.#limits.maxStops) {
      throw new XmlLimitReached(`there are more than ${this.#limits.maxStops} stops`, start);
    }
    this.#known = { offset: start, line: this.#cursor.lineAt(start, this.#known) };
    this.#trail.push(path);
    this.#stopFaults = [];
    this.#functionCode = "";
    const stop = this.#readFields(stopPlans, {});
    this.#trail.pop();
    this.#keep(stop);
  }

  #keep(stop: Fields): void {
    const functionCode = this.#functionCode;
    const stopNbr = textOf(stop["stopNbr"]);
    const line = this.#known.line;
    if (functionCode === "02") {
      // With 02 only Function and StopNbr count: neither the other values nor their faults do.
      this.#instructions.push({ functionCode, stopNbr, stop: { stopNbr }, line });
      this.#faults.push(...this.#stopFaults.filter(isOfNumber));
      return;
    }
    this.#instructions.push({ functionCode, stopNbr, stop, line });
    for (const fault of this.#stopFaults)
      this.#faults.push({ ...fault, ...(stopNbr === "" ? {} : { stopNbr }) });
  }

  #readFields(plans: Plans, target: Fields): Fields {
    const cursor = this.#cursor;
    while (cursor.openNext()) {
      const plan = plans.get(cursor.name);
      if (plan === undefined || (plan.shape !== "value" && cursor.isNil())) cursor.skip();
      else if (plan.shape === "value") this.#readValue(plan, target);
      else if (plan.shape === "list") this.#readList(plan, target);
      else {
        this.#trail.push(cursor.name);
        this.#readFields(plan.children, target);
        this.#trail.pop();
      }
    }
    return target;
  }

  #readValue(plan: ValuePlan, target: Fields): void {
    const cursor = this.#cursor;
    if (plan.attribute !== undefined) {
      const text = cursor.attribute(plan.attribute.name);
      if (text !== undefined) ownerOf(target, plan.steps)[plan.attribute.field] = text;
    }
    if (cursor.isNil()) {
      cursor.skip();
      return;
    }
    const start = cursor.start;
    const name = cursor.name;
    const text = cursor.leafText();
    if (plan === functionPlan) {
      this.#functionCode = text.trim();
      return;
    }
    const value = plan.kind.read(text);
    if (value === unreadable) this.#refuseValue(plan.kind, name, text, start);
    else if (value !== undefined) ownerOf(target, plan.steps)[plan.field] = value;
  }

  #refuseValue(kind: ValueKind, name: string, text: string, start: number): void {
    this.#stopFaults.push({
      code: kind.faultCode,
      message: `${name}: found '${text.trim().slice(0, 60)}', expected ${kind.expected}.`,
      path: `/${[...this.#trail, name].join("/")}`,
      line: this.#cursor.lineAt(start),
    });
  }

  #readList(plan: ListPlan, target: Fields): void {
    const cursor = this.#cursor;
    const items: Fields[] = [];
    const places: number[] = [];
    let nth = 0;
    const listName = cursor.name;
    const isDetails = plan.field === "stopDetails";
    while (cursor.openNext()) {
      if (cursor.name !== plan.itemName) {
        cursor.skip();
        continue;
      }
      nth += 1;
      if (isDetails) this.#countDetail();
      if (cursor.isNil()) {
        cursor.skip();
        continue;
      }
      const item: Fields = {};
      items.push(item);
      places.push(nth);
      if (plan.content !== undefined) this.#readValue(plan.content, item);
      else {
        this.#trail.push(`${listName}/${plan.itemName}[${nth}]`);
        this.#readFields(plan.children, item);
        this.#trail.pop();
      }
    }
    if (nth > items.length) itemPlaces.set(items, places);
    target[plan.field] = items;
  }

  #countDetail(): void {
    this.#details++;
    if (this.#details <= this.#limits.maxDetails) return;
    throw new XmlLimitReached(
      `there are more than ${this.#limits.maxDetails} stop details`,
      this.#cursor.start,
    );
  }
}

/** What reading a well-formed text gives: the document, or the limit it is over. */
export type StopTextOutcome =
  | { readonly kind: "read"; readonly document: ReadDocument }
  | { readonly kind: "overLimit"; readonly message: string; readonly line: number };

/** Reads the text of a document that is known to be well-formed and without DOCTYPE. */
export function readStopText(text: string, limits: ReaderLimits): StopTextOutcome {
  const reader = new StopReader(text, limits);
  try {
    return { kind: "read", document: reader.read() };
  } catch (error) {
    if (!(error instanceof XmlLimitReached)) throw error;
    return { kind: "overLimit", message: error.message, line: reader.lineAt(error.offset) };
  }
}

/** A stop that was read from a document which has passed the XSD, whose types therefore hold. */
export function asStop(fields: unknown): Stop {
  return fields as Stop;
}
