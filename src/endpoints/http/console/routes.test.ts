import { expect, test } from "vitest";
import { routes } from "../routes.ts";
import { createRouteTable } from "../server/route-table.ts";
import { createConsole } from "./console-endpoint.ts";

test("no two pages or acts claim one place, beside those of the interface", () => {
  const served = createConsole({ services: { basePath: () => "" } } as never).routes;
  expect(() => createRouteTable([...routes, ...served], "/rest")).not.toThrow();
  expect(new Set(served.map(({ name }) => name)).size).toBe(served.length);
});
