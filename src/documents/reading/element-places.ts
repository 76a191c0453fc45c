/**
 * Where elements stand in the text of a document: their order, line and path. The check of a document against the XSD
 * names elements by path, in the order in which it finishes with them; people read from the top.
 */
import { XmlCursor } from "../xml/xml-cursor.ts";

export interface ElementPlace {
  /** Grows from the first element of the document to the last. */
  readonly order: number;
  readonly line: number;
  /** Line of the first text between its children; undefined where there is none but white space. */
  readonly textLine: number | undefined;
  /** As libxml2 writes it: an index only where several siblings have the name. */
  readonly path: string;
}

/** The path with the index of every step, so that it stays the same when siblings come or go. */
export function indexedPath(path: string): string {
  return path.replace(/[^/\]](?=\/|$)/g, "$&[1]");
}

/** A step of the paths that are looked for. The step of an element in a default namespace is `*`, as in libxml2. */
interface Step {
  readonly parent: Step | undefined;
  readonly name: string;
  readonly index: string;
  readonly children: Map<string, Step>;
  /** How many siblings have each name; known once all of them have been seen. */
  counts: ReadonlyMap<string, number>;
  found: { order: number; line: number } | undefined;
  textLine: number | undefined;
}

function makeStep(parent: Step | undefined, key: string): Step {
  const at = key.lastIndexOf("[");
  const name = key.slice(0, at);
  const index = key.slice(at);
  return {
    parent,
    name,
    index,
    children: new Map(),
    counts: new Map(),
    found: undefined,
    textLine: undefined,
  };
}

function stepOf(root: Step, path: string): Step {
  let step = root;
  for (const key of path.slice(1).split("/")) {
    let child = step.children.get(key);
    if (child === undefined) {
      child = makeStep(step, key);
      step.children.set(key, child);
    }
    step = child;
  }
  return step;
}

function pathOf(step: Step): string {
  if (step.parent === undefined) return "";
  const isOne = (step.counts.get(step.name) ?? 0) < 2;
  return `${pathOf(step.parent)}/${step.name}${isOne ? "" : step.index}`;
}

class PlaceFinder {
  readonly #cursor: XmlCursor;
  #order = 0;
  #known = { offset: 0, line: 1 };

  constructor(text: string) {
    // The document has been held to its limits before.
    this.#cursor = new XmlCursor(text, {
      maxDepth: Number.POSITIVE_INFINITY,
      maxTextLength: Number.POSITIVE_INFINITY,
    });
  }

  /** Looks among the children of the element just opened, or at the root. */
  visit(step: Step): void {
    const cursor = this.#cursor;
    const counts = new Map<string, number>([["*", 0]]);
    const takeText = (text: string, offset: number) => {
      const at = text.search(/[^ \t\r\n]/);
      if (at !== -1) step.textLine ??= cursor.lineAt(offset + at);
    };
    while (cursor.openNext(takeText)) {
      const nth = (counts.get("*") ?? 0) + 1;
      // A default namespace of a parent does not count: such a parent does not belong, so nothing is looked for in it.
      const name = cursor.attribute("xmlns") ? "*" : cursor.name;
      const nthOfName = name === "*" ? nth : (counts.get(name) ?? 0) + 1;
      counts.set("*", nth).set(name, nthOfName);
      const child = step.children.get(`${name}[${nthOfName}]`);
      if (child === undefined) cursor.skip();
      else this.#enter(child, counts);
    }
  }

  #enter(step: Step, counts: ReadonlyMap<string, number>): void {
    const { start } = this.#cursor;
    this.#known = { offset: start, line: this.#cursor.lineAt(start, this.#known) };
    step.found = { order: this.#order++, line: this.#known.line };
    step.counts = counts;
    this.visit(step);
  }
}

/**
 * The places of the elements at the given indexed paths, in one pass over the text of a well-formed document. What is
 * not there has no place.
 */
export function placesOf(text: string, indexedPaths: Iterable<string>): Map<string, ElementPlace> {
  const root = makeStep(undefined, "");
  const steps = new Map<string, Step>();
  for (const path of indexedPaths) steps.set(path, stepOf(root, path));
  new PlaceFinder(text).visit(root);
  const places = new Map<string, ElementPlace>();
  for (const [path, step] of steps) {
    if (step.found !== undefined)
      places.set(path, { ...step.found, textLine: step.textLine, path: pathOf(step) });
  }
  return places;
}
