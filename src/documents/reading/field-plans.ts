/** How the elements of a stop become fields, element by element: the table of elements, as the reader wants it. */
import type { ListItem, StopElement } from "../elements/stop-element.ts";
import { functionElement, stopElements } from "../elements/stop-elements.ts";
import { type ValueKind, valueKindOf } from "../elements/value-kinds.ts";

export type Plans = ReadonlyMap<string, Plan>;

export interface ValuePlan {
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
export interface ListPlan {
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

/** Of the children of a stop. */
export const stopPlans = planAll([functionElement, ...stopElements]);
export const functionPlan = stopPlans.get(functionElement.name);
