import { expect, it } from "vitest";
import { RequestFigures } from "./request-figures.ts";

it("requests are counted by their route, and those without one apart", () => {
  const figures = new RequestFigures([{ name: "readStop", method: "GET" }]);
  const request = { durationMs: 20, bytesIn: 3, bytesOut: 5 };
  figures.count({ ...request, route: "readStop", status: 200 });
  figures.count({ ...request, route: "readStop", status: 404 });
  figures.count({ ...request, route: undefined, status: 405 });
  figures.count({ ...request, route: "readStop", status: 0 });
  const [known, none] = figures.routes;
  expect([known?.method, known?.byStatus.get("2xx"), known?.byStatus.get("4xx")]).toEqual(["GET", 1, 1]);
  expect([known?.byStatus.get("gone"), known?.byStatus.get("5xx")]).toEqual([1, 0]);
  expect([none?.route, none?.byStatus.get("4xx")]).toEqual(["none", 1]);
  expect(known?.durations.cumulated().at(-1)).toBe(3);
  expect(known?.durations.sum).toBeCloseTo(0.06);
  expect(figures.bytes).toEqual({ bytesIn: 12, bytesOut: 20 });
});
