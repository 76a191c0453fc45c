import { expect, test } from "vitest";
import { CountedPaths } from "./counted-paths.ts";

test("a name that is used again before the first file under it is done with stays known until the second is", () => {
  const paths = new CountedPaths();
  paths.add("/inbound", "a.xml");
  paths.add("/inbound", "a.xml");
  paths.add("/inbound", "a.xml");
  paths.delete("/inbound", "a.xml");
  paths.delete("/inbound", "a.xml");
  expect(paths.has("/inbound/a.xml")).toBe(true);
  paths.delete("/inbound", "a.xml");
  expect(paths.has("/inbound/a.xml")).toBe(false);
  paths.delete("/inbound", "a.xml");
  paths.add("/inbound", "a.xml");
  expect(paths.has("/inbound/a.xml")).toBe(true);
});
