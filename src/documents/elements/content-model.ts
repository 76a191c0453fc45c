/** Which children an element of the stop document may have: the table of elements once more, by path. */
import type { StopElement } from "./stop-element.ts";
import { functionElement, stopElements } from "./stop-elements.ts";

export interface ContentModel {
  readonly names: ReadonlySet<string>;
  /** The one child that may stand any number of times; every other one stands once at most. */
  readonly repeated: string | undefined;
}

function addModels(models: Map<string, ContentModel>, path: string, children: readonly StopElement[]): void {
  models.set(path, { names: new Set(children.map((child) => child.name)), repeated: undefined });
  for (const child of children) {
    const childPath = `${path}/${child.name}`;
    if (child.shape === "object") addModels(models, childPath, child.children);
    if (child.shape !== "list") continue;
    const { item } = child;
    models.set(childPath, { names: new Set([item.name]), repeated: item.name });
    if (item.content === undefined) addModels(models, `${childPath}/${item.name}`, item.children);
  }
}

const models = new Map<string, ContentModel>([
  ["/Stops", { names: new Set(["DocumentID", "CompanyCode", "Stop"]), repeated: "Stop" }],
]);
addModels(models, "/Stop", [functionElement, ...stopElements]);

/** What the element at a path, with indexes or without, may hold; undefined when it may hold no elements. */
export function contentModelOf(path: string): ContentModel | undefined {
  return models.get(path.replace(/\[\d+\]/g, "").replace(/^\/Stops\/Stop/, "/Stop"));
}
