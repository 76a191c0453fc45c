import { join, relative, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { filesIn, importsOf, isProduction } from "../support/source-files.ts";

/** Who may import whom, besides itself. `main.ts` is the process entry and imports only cli. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  domain: ["lib"],
  config: ["domain", "lib"],
  documents: ["domain", "lib"],
  integrations: ["documents", "domain", "lib"],
  store: ["domain", "lib"],
  cluster: ["store", "domain", "lib"],
  "sign-in": ["store", "domain", "lib"],
  operations: ["sign-in", "store", "domain", "lib"],
  inbound: ["operations", "documents", "store", "domain", "lib"],
  outbound: ["documents", "store", "domain", "lib"],
  backup: ["inbound", "store", "domain", "lib"],
  remote: ["domain", "lib"],
  targets: ["outbound", "remote", "domain", "lib"],
  exchange: ["inbound", "domain", "lib"],
  endpoints: ["exchange", "remote", "inbound", "operations", "sign-in", "domain", "lib"],
  app: [
    "lib",
    "domain",
    "config",
    "documents",
    "integrations",
    "store",
    "cluster",
    "sign-in",
    "operations",
    "inbound",
    "outbound",
    "backup",
    "remote",
    "targets",
    "exchange",
    "endpoints",
  ],
  cli: ["app", "config", "lib"],
  "main.ts": ["cli"],
};

/**
 * The rooms of a folder, and which of them each may import; the folder's own files are the room "". A nested folder has
 * its own line.
 */
const rooms: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  domain: {
    fields: ["time"],
    time: ["fields"],
    files: ["time"],
    users: ["fields"],
    documents: ["fields"],
    stop: ["fields", "time", "order", "documents", "execution", "outbound"],
    load: ["fields", "stop", "time"],
    order: ["fields", "stop"],
    execution: ["load", "outbound", "stop", "documents", "fields", "time"],
    appointments: ["time", "fields"],
    alerts: ["messages", "outbound", "time"],
    messages: ["outbound", "time", "stop", "execution"],
    outbound: ["files", "documents", "execution", "stop"],
    retention: [],
    audit: [],
  },
  config: {
    "": ["sections", "reader", "rules"],
    sections: ["", "reader"],
    reader: [""],
    rules: ["", "reader"],
  },
  store: {
    database: ["accounts", "alerts", "outbound", "appointments", "ledger", "cluster"],
    cluster: ["database"],
    alerts: ["database"],
    accounts: ["database"],
    stops: ["database"],
    ledger: ["database"],
    outbound: ["database"],
    appointments: ["database"],
  },
  "sign-in": { "": ["failures"], failures: [] },
  operations: {
    "": [],
    alerts: [],
    consequences: [],
    imports: ["", "stops", "execution", "loads"],
    stops: ["", "consequences", "loads", "legacy"],
    loads: ["", "consequences", "stops", "imports"],
    orders: ["", "consequences", "stops"],
    deliveries: [],
    execution: ["", "consequences", "loads", "imports"],
    appointments: ["", "consequences"],
    legacy: ["", "imports", "stops"],
    users: [""],
  },
  documents: {
    elements: ["xml"],
    xml: [],
    reading: ["elements", "xml"],
    pool: ["reading"],
    writing: ["elements", "xml"],
  },
  inbound: {
    "": ["lanes", "places", "receipts", "recovery"],
    places: [],
    receipts: ["places"],
    recovery: ["places", "receipts"],
    lanes: ["places", "receipts"],
    explain: ["lanes", "recovery", "remotes"],
    remotes: ["places"],
    pruning: ["places"],
  },
  lib: { "": ["logs"], files: [""], logs: [], threads: [""], "proxy-protocol": ["", "logs"] },
  exchange: {
    "": ["folders", "uploads"],
    folders: [""],
    uploads: ["", "folders"],
    connections: [""],
    arrivals: [],
    journal: [],
  },
  targets: { "": [], folder: [""], servers: [""], web: [""], email: [""] },
  "endpoints/http": {
    "": ["console", "gateway", "legacy", "openapi", "server"],
    console: ["server"],
    gateway: ["openapi", "server"],
    legacy: ["gateway", "openapi", "server"],
    openapi: ["console", "server"],
    server: [],
  },
  app: {
    daemon: ["watch", "alerts", "retention", "console"],
    watch: ["daemon", "retention"],
    retention: [],
    alerts: ["watch", "retention", "daemon"],
    checks: ["daemon", "admin", "watch", "retention"],
    admin: ["daemon", "checks", "watch", "retention"],
    console: ["admin", "alerts", "checks", "daemon", "watch", "retention"],
  },
};

/** The tools, and what each may import besides itself. The source imports no tool. */
const toolMayImport: Readonly<Record<string, readonly string[]>> = {
  simulator: ["src/domain", "src/lib", "src/cli/simulation.ts"],
  generators: [
    ...["src/cli", "src/config", "src/documents", "src/domain", "src/endpoints/http", "src/lib"],
    ...["src/operations", "src/app/watch/metrics"],
  ],
  package: ["tools/generators"],
};

const files = filesIn("src").map((file) => relative("src", file));
const imports = files.flatMap((from) =>
  importsOf(join("src", from)).map((to) => ({ from, to: relative("src", to) })),
);
const folderOf = (file: string) => file.split(sep)[0] ?? "";
/** Tests beside the code may use what they need; the rules are for what runs. */
const rules = imports.filter(({ from }) => isProduction(from));

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

  it.each(Object.entries(rooms))("hold between the rooms of %s as well", (folder, ofFolder) => {
    const below = join(folder, sep);
    const isInside = (file: string) => file.startsWith(below);
    const roomOf = (file: string) => {
      const [room = "", ...rest] = file.slice(below.length).split(sep);
      return rest.length > 0 ? room : "";
    };
    const known = files.filter((file) => isInside(file) && roomOf(file) !== "testing");
    expect(known).not.toEqual([]);
    expect(known.filter((file) => ofFolder[roomOf(file)] === undefined)).toEqual([]);
    const wrong = rules.filter(({ from, to }) => {
      if (!isInside(from) || !isInside(to) || roomOf(from) === roomOf(to)) return false;
      return ofFolder[roomOf(from)]?.includes(roomOf(to)) !== true;
    });
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it("have targets know nothing of what goes out but the interface of a target", () => {
    const wrong = rules.filter(
      ({ from, to }) =>
        folderOf(from) === "targets" && folderOf(to) === "outbound" && to !== join("outbound", "target.ts"),
    );
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

  it("let a tool use its own part of the source, and the package what is generated", () => {
    const wrong = filesIn("tools")
      .filter(isProduction)
      .flatMap((from) => importsOf(from).map((to) => ({ from, to })))
      .filter(({ from, to }) => {
        const tool = from.split(sep)[1] ?? "";
        const allowed = [join("tools", tool), ...(toolMayImport[tool] ?? [])];
        return !allowed.some((part) => to === part || to.startsWith(part + sep));
      });
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
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
