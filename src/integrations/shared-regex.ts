/**
 * Finds regular expressions that jsonata 2.2.2 would use in two places at once. It keeps the position of a search in the
 * regular expression itself and lets the entries of lists and objects take turns, so that one kept in a variable gives wrong
 * results without a word: ($p := /,/; [$replace("a,b", $p, ""), $replace("a,b", $p, "")]) is ["ab", "a,b"]. One that stands
 * as an argument of the function that searches is made anew for each call.
 */
import { isFields } from "../domain/fields/fields-of-json.ts";

const searching: ReadonlySet<unknown> = new Set(["contains", "match", "replace", "split"]);

function isSearch(node: Readonly<Record<string, unknown>>): boolean {
  const { type, procedure } = node;
  return (
    type === "function" &&
    isFields(procedure) &&
    procedure["type"] === "variable" &&
    searching.has(procedure["value"])
  );
}

interface Visit {
  readonly value: unknown;
  /** Whether a regular expression may stand here. */
  readonly isArgument: boolean;
}

function childrenOf({ value, isArgument }: Visit): Visit[] {
  if (Array.isArray(value)) return value.map((entry: unknown) => ({ value: entry, isArgument }));
  if (!isFields(value)) return [];
  const mayHold = isSearch(value);
  return Object.entries(value).map(([name, child]) => ({
    value: child,
    // What is applied (`text ~> /x/`) searches once.
    isArgument: (mayHold && name === "arguments") || (value["type"] === "apply" && name === "rhs"),
  }));
}

/** The position of the first one in a syntax tree that is not safe; undefined when all are. */
export function positionOfSharedRegex(tree: unknown): number | undefined {
  const seen = new Set<unknown>();
  const toVisit: Visit[] = [{ value: tree, isArgument: false }];
  for (let next = toVisit.pop(); next !== undefined; next = toVisit.pop()) {
    const { value, isArgument } = next;
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    if (isFields(value) && value["type"] === "regex") {
      if (!isArgument) return typeof value["position"] === "number" ? value["position"] : 0;
      continue;
    }
    toVisit.push(...childrenOf(next));
  }
  return undefined;
}
