/** The dashboard is what its panels make of it. `UPDATE_GENERATED=1` writes it anew. */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { renderDashboard } from "./render-dashboard.ts";

test("monitoring/dashboard.json is up to date with its panels", () => {
  const file = join(resolve(import.meta.dirname, "../.."), "monitoring/dashboard.json");
  if (process.env["UPDATE_GENERATED"] === "1") writeFileSync(file, renderDashboard());
  expect(readFileSync(file, "utf8")).toBe(renderDashboard());
});
