import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import { describe, expect, it } from "vitest";

/** Who may import whom, besides itself. `main.ts` is the process entry and imports only cli. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  domain: ["lib"],
  config: ["domain", "lib"],
  documents: ["domain", "lib"],
  integrations: ["documents", "domain", "lib"],
  store: ["domain", "lib"],
  simulation: ["domain", "lib"],
  operations: ["store", "domain", "lib"],
  inbound: ["operations", "documents", "store", "domain", "lib"],
  outbound: ["documents", "store", "domain", "lib"],
  remote: ["domain", "lib"],
  targets: ["outbound", "remote", "domain", "lib"],
  exchange: ["inbound", "domain", "lib"],
  endpoints: ["exchange", "remote", "inbound", "operations", "domain", "lib"],
  app: [
    "lib",
    "domain",
    "config",
    "documents",
    "integrations",
    "store",
    "operations",
    "inbound",
    "outbound",
    "remote",
    "targets",
    "exchange",
    "endpoints",
  ],
  cli: ["app", "config", "simulation", "lib"],
  "main.ts": ["cli"],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".ts"),
);

function importsOf(file: string): Import[] {
  const text = readFileSync(join("src", file), "utf8");
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(
    (match) => match[1] ?? "",
  );
  return specifiers.map((specifier) => ({ from: file, to: normalize(join(dirname(file), specifier)) }));
}

const imports = files.flatMap(importsOf);
const folderOf = (file: string) => file.split(sep)[0] ?? "";
/** Tests beside the code may use what they need; the rules are for what runs. */
const rules = imports.filter(
  ({ from }) => !from.endsWith(".test.ts") && !from.includes(`${sep}testing${sep}`),
);

describe("the import layers", () => {
  it("know every folder", () => {
    expect([...new Set(files.map(folderOf))].filter((folder) => mayImport[folder] === undefined)).toEqual([]);
  });

  it("are kept: no folder imports one that it may not", () => {
    const wrong = rules.filter(({ from, to }) => {
      const [source, target] = [folderOf(from), folderOf(to)];
      return source !== target && mayImport[source]?.includes(target) !== true;
    });
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it("keep endpoints from knowing each other", () => {
    const endpointOf = (file: string) => file.split(sep).slice(0, 2).join("/");
    const wrong = rules.filter(
      ({ from, to }) =>
        folderOf(from) === "endpoints" && folderOf(to) === "endpoints" && endpointOf(from) !== endpointOf(to),
    );
    expect(wrong).toEqual([]);
  });

  it("have no circles", () => {
    const graph = new Map<string, string[]>();
    for (const { from, to } of rules) graph.set(from, [...(graph.get(from) ?? []), to]);
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" > "));
      if (done.has(file) || path.includes(file)) return;
      for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    };
    for (const file of graph.keys()) visit(file, []);
    expect(circles).toEqual([]);
  });

  it("are seen: the check finds imports at all", () => {
    expect(relative("src", join("src", files[0] ?? ""))).not.toBe("");
    expect(imports.length).toBeGreaterThan(20);
  });
});
