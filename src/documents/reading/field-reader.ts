/** Reads the elements of one stop after the other into fields. */
import type { Fault } from "../../lib/errors.ts";
import { unreadable, type ValueKind } from "../elements/value-kinds.ts";
import { type CursorLimits, type XmlCursor, XmlLimitReached } from "../xml/xml-cursor.ts";
import { functionPlan, type ListPlan, type Plans, stopPlans, type ValuePlan } from "./field-plans.ts";

export interface ReaderLimits extends CursorLimits {
  readonly maxStops: number;
  readonly maxDetails: number;
}

export type Fields = Record<string, unknown>;

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

/** Of lists in which an element with `xsi:nil` stood: for each item its place among the elements, from 1. */
const itemPlaces = new WeakMap<object, readonly number[]>();

/** The place of an item of a list as it was read among the elements of the list, from 1. */
export function itemPlace(list: unknown, index: number): number {
  const places = typeof list === "object" && list !== null ? itemPlaces.get(list) : undefined;
  return places?.[index] ?? index + 1;
}

export class FieldReader {
  /** Of the stop that was read last. */
  faults: Fault[] = [];
  functionCode = "";
  readonly #cursor: XmlCursor;
  readonly #limits: ReaderLimits;
  /** Where the reader is, for the paths of faults: names of the elements that hold the current one. */
  readonly #trail: string[] = [];
  #details = 0;

  constructor(cursor: XmlCursor, limits: ReaderLimits) {
    this.#cursor = cursor;
    this.#limits = limits;
  }

  /** Reads the stop just opened, which stands at `path`. */
  readStop(path: string): Fields {
    this.faults = [];
    this.functionCode = "";
    this.#trail.push(path);
    const stop = this.#readFields(stopPlans, {});
    this.#trail.pop();
    return stop;
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
      this.functionCode = text.trim();
      return;
    }
    const value = plan.kind.read(text);
    if (value === unreadable) this.#refuseValue(plan.kind, name, text, start);
    else if (value !== undefined) ownerOf(target, plan.steps)[plan.field] = value;
  }

  #refuseValue(kind: ValueKind, name: string, text: string, start: number): void {
    this.faults.push({
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
