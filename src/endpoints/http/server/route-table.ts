/** Finds the route of a path: a tree by parts, built once from the table of routes. */
import type { Route } from "./route.ts";

interface Mounted {
  readonly route: Route;
  /** Names of the variable parts, in order. */
  readonly names: readonly string[];
}

interface Branch {
  readonly literals: Map<string, Branch>;
  /** Literals of routes that match in any case, by their lower-case text. */
  readonly anyCase: Map<string, Branch>;
  variable: Branch | undefined;
  readonly byMethod: Map<string, Mounted>;
}

/** The route at a path. */
export interface PathMatch {
  /** Methods as in `Allow`. */
  readonly allow: string;
  /** Any route of the path, for the shape of a refusal when the method fits none. */
  readonly any: Route;
  find(method: string): Route | undefined;
  paramsOf(route: Route): Readonly<Record<string, string>>;
}

export interface RouteTable {
  /** The deepest match, literal parts first; undefined when there is none. */
  match(segments: readonly string[]): PathMatch | undefined;
}

function newBranch(): Branch {
  return { literals: new Map(), anyCase: new Map(), variable: undefined, byMethod: new Map() };
}

function below(branches: Map<string, Branch>, key: string): Branch {
  const known = branches.get(key);
  if (known !== undefined) return known;
  const branch = newBranch();
  branches.set(key, branch);
  return branch;
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

function insert(root: Branch, prefix: string, route: Route): void {
  const names: string[] = [];
  let branch = root;
  for (const part of partsOf(prefix)) branch = below(branch.literals, part);
  for (const part of partsOf(route.path)) {
    if (part.startsWith("{")) {
      names.push(part.slice(1, -1));
      branch.variable ??= newBranch();
      branch = branch.variable;
    } else if (route.isAnyCase === true) {
      branch = below(branch.anyCase, part.toLowerCase());
    } else {
      branch = below(branch.literals, part);
    }
  }
  if (branch.byMethod.has(route.method))
    throw new Error(`${route.method} ${prefix}${route.path} is routed twice`);
  if (Array.isArray(route.access) && !names.includes("companyCode"))
    throw new Error(`${route.name} needs {companyCode} in its path: access is given by company`);
  branch.byMethod.set(route.method, { route, names });
}

function prefixesOf(route: Route, basePath: string): readonly string[] {
  if (route.version !== "none") return [`${basePath}/v5`, `${basePath}/v6`];
  return basePath === "" ? [""] : ["", basePath];
}

function step(branch: Branch, segment: string): Branch | undefined {
  const literal = branch.literals.get(segment);
  if (literal !== undefined) return literal;
  const folded = branch.anyCase.size === 0 ? undefined : branch.anyCase.get(segment.toLowerCase());
  return folded ?? (segment === "" ? undefined : branch.variable);
}

class Match implements PathMatch {
  readonly #branch: Branch;
  readonly #values: readonly string[];

  constructor(branch: Branch, values: readonly string[]) {
    this.#branch = branch;
    this.#values = values;
  }

  get allow(): string {
    const methods = [...this.#branch.byMethod.keys()].flatMap((name) =>
      name === "GET" ? ["GET", "HEAD"] : [name],
    );
    return [...methods, "OPTIONS"].join(", ");
  }

  get any(): Route {
    const mounted = [...this.#branch.byMethod.values()];
    // Where XML clients may call, the answer has to be one they can read.
    const found = mounted.find(({ route }) => route.errorShape === "stopResponse") ?? mounted[0];
    if (found === undefined) throw new Error("a path without a route was matched");
    return found.route;
  }

  find(method: string): Route | undefined {
    return this.#branch.byMethod.get(method === "HEAD" ? "GET" : method)?.route;
  }

  paramsOf(route: Route): Readonly<Record<string, string>> {
    const names = this.#branch.byMethod.get(route.method)?.names ?? [];
    const params: Record<string, string> = {};
    for (const [index, name] of names.entries()) params[name] = this.#values[index] ?? "";
    return params;
  }
}

/** Builds the tree. Throws when two routes claim one place, or a route for a company does not name one. */
export function createRouteTable(routes: readonly Route[], basePath: string): RouteTable {
  const root = newBranch();
  for (const route of routes) {
    for (const prefix of prefixesOf(route, basePath)) insert(root, prefix, route);
  }
  return {
    match(segments) {
      const values: string[] = [];
      let branch: Branch | undefined = root;
      for (const segment of segments) {
        const next: Branch | undefined = step(branch, segment);
        if (next === undefined) return undefined;
        if (next === branch.variable) values.push(segment);
        branch = next;
      }
      return branch.byMethod.size === 0 ? undefined : new Match(branch, values);
    },
  };
}
