/** Calls whose arguments no test is to hold: words of the log, and the points at which a test may kill the process. */
import type { Ignorer } from "@stryker-mutator/api/ignore";
import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

const levels = new Set(["trace", "debug", "info", "warn", "error", "fatal"]);

/** What is needed of a node of the syntax tree. */
interface Node {
  readonly type: string;
  readonly name?: string;
  readonly callee?: Node;
  readonly expression?: Node;
  readonly object?: Node;
  readonly property?: Node & { readonly id?: Node };
}

/** The last name of `log`, `deps.log` and `this.#log`. */
function nameOf({ name, property }: Node): string | undefined {
  return name ?? property?.name ?? property?.id?.name;
}

const ignorer: Ignorer = {
  shouldIgnore(path) {
    const { node } = path as { readonly node: Node };
    // With the statement that is nothing but the call.
    const { type, callee } = (node.type === "ExpressionStatement" ? node.expression : node) ?? node;
    if (type !== "CallExpression" || callee === undefined) return undefined;
    if (callee.name === "killPoint") return "it does nothing but in crash tests";
    const isOfLog = callee.object !== undefined && nameOf(callee.object) === "log";
    return isOfLog && levels.has(nameOf(callee) ?? "") ? "these are words of the log" : undefined;
  },
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, "unseen-calls", ignorer)];
