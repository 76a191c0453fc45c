import { describe, expect, it } from "vitest";
import type { CompanyRoute } from "./route.ts";
import { createRouteTable } from "./route-table.ts";
import { routes } from "../routes.ts";

function route(
  name: string,
  method: "GET" | "POST",
  path: string,
  changes: Partial<CompanyRoute> = {},
): CompanyRoute {
  return {
    name,
    summary: name,
    method,
    path,
    version: "v5",
    access: ["DI_Integration"],
    errorShape: "reasons",
    query: "none",
    body: "none",
    media: [],
    run: () => Promise.reject(new Error("not run")),
    ...changes,
  };
}

const table = createRouteTable(
  [
    route("assign", "POST", "/load/assign/driver/{companyCode}"),
    route("assignOne", "POST", "/load/assign/driver/{loadNbr}/{companyCode}"),
    route("info", "GET", "/load/info/{loadNbr}/{companyCode}"),
    route("document", "GET", "/api/document/{guid}/{companyCode}", { version: "none", isAnyCase: true }),
    route("stop", "GET", "/api/stop/{companyCode}", { version: "none", isAnyCase: true }),
  ],
  "/rest/x",
);

function found(method: string, path: string): string | undefined {
  const match = table.match(path.slice(1).split("/"));
  const one = match?.find(method);
  return match === undefined || one === undefined
    ? undefined
    : `${one.name} ${JSON.stringify(match.paramsOf(one))}`;
}

describe("the table of routes", () => {
  it.each([
    ["POST", "/rest/x/v5/load/assign/driver/C", 'assign {"companyCode":"C"}'],
    ["POST", "/rest/x/v6/load/assign/driver/L/C", 'assignOne {"loadNbr":"L","companyCode":"C"}'],
    ["HEAD", "/rest/x/v5/load/info/info/load", 'info {"loadNbr":"info","companyCode":"load"}'],
    ["GET", "/API/Document/g/C", 'document {"guid":"g","companyCode":"C"}'],
    ["GET", "/rest/x/api/STOP/stop", 'stop {"companyCode":"stop"}'],
    ["GET", "/v5/load/info/L/C", undefined],
    ["GET", "/rest/x/v5/load/info//C", undefined],
    ["GET", "/rest/x/v5/load/info/L/C/D", undefined],
    ["GET", "/rest/x/v5/Load/info/L/C", undefined],
    ["GET", "/__proto__/constructor", undefined],
  ])("%s %s is %s", (method, path, expected) => expect(found(method, path)).toBe(expected));

  it("cannot have two routes in one place, nor one for a company without its code", () => {
    const twice = [route("a", "GET", "/x/{companyCode}"), route("b", "GET", "/x/{companyCode}")];
    expect(() => createRouteTable(twice, "")).toThrow("routed twice");
    expect(() => createRouteTable([route("a", "GET", "/x/{stopNbr}")], "")).toThrow("companyCode");
  });

  it("names each operation once", () => {
    expect(new Set(routes.map(({ name }) => name)).size).toBe(routes.length);
  });
});
