import { expect, test } from "vitest";
import { Stop } from "../../domain/stop/stop.ts";
import type { StopElement } from "./stop-element.ts";
import { stopElements } from "./stop-elements.ts";

/** The definition of a field in an entity's definition: `to.address.zip`; list items stand under their list. */
function definitionAt(schema: unknown, path: string): unknown {
  let at = schema;
  for (const step of path.split(".")) {
    const inner = Reflect.get(Object(at), "items") ?? at;
    at = Reflect.get(Object(Reflect.get(Object(inner), "properties")), step);
  }
  return at;
}

function unknownPaths(schema: unknown, elements: readonly StopElement[]): string[] {
  return elements.flatMap((element) => {
    if (element.shape === "object") return unknownPaths(schema, element.children);
    const own = definitionAt(schema, element.path);
    if (own === undefined) return [element.path];
    if (element.shape === "value") {
      const { attribute } = element;
      return attribute !== undefined && definitionAt(schema, attribute.path) === undefined
        ? [attribute.path]
        : [];
    }
    const content = element.item.content === undefined ? [] : [element.item.content];
    return unknownPaths(own, [...element.item.children, ...content]);
  });
}

test("every element of the table leads to a field of the canonical stop", () => {
  expect(unknownPaths(Stop, stopElements)).toEqual([]);
});

/** Paths of all fields of the definition that hold one value; those of lists begin anew at the list. */
function leavesOf(schema: unknown, path: string): string[] {
  const inner = Reflect.get(Object(schema), "items") ?? schema;
  const properties = Reflect.get(Object(inner), "properties");
  if (properties === undefined) return [path];
  return Object.entries(properties).flatMap(([name, field]) =>
    leavesOf(field, path === "" ? name : `${path}.${name}`),
  );
}

function pathsOf(elements: readonly StopElement[], base: string): string[] {
  const at = (path: string) => (base === "" ? path : `${base}.${path}`);
  return elements.flatMap((element) => {
    if (element.shape === "object") return pathsOf(element.children, base);
    if (element.shape === "list") {
      const content = element.item.content === undefined ? [] : [element.item.content];
      return pathsOf([...element.item.children, ...content], at(element.path));
    }
    return [element.path, ...(element.attribute === undefined ? [] : [element.attribute.path])].map(at);
  });
}

test("every field of the canonical stop has its element, so that XML can say what JSON can", () => {
  const said = new Set(pathsOf(stopElements, ""));
  expect(leavesOf(Stop, "").filter((path) => !said.has(path))).toEqual([]);
});

test("a path that is no field is noticed", () => {
  const wrong: StopElement = { shape: "value", name: "X", path: "to.adress.zip", kind: "text", about: "" };
  expect(unknownPaths(Stop, [wrong])).toEqual(["to.adress.zip"]);
});
