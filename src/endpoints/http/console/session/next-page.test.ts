import { expect, test } from "vitest";
import { nextPageOf } from "./next-page.ts";

test.each([
  "/console",
  "/console?day=today",
  "/console/files",
  "/console/files?q=a%26b&state=refused",
  "/console/stops/ACME/4711",
])("%s is gone on to", (page) => {
  expect(nextPageOf(page)).toBe(page);
});

test.each([
  undefined,
  null,
  "",
  "/",
  "https://evil.example/console",
  "//evil.example/console",
  "/\\evil.example",
  "/console\\@evil.example",
  "/console.evil.example",
  "/consoles",
  "/v5/stop/info/1/ACME",
  "/console/../docs",
  "/console/files/%2e%2e/x\r\nSet-Cookie: a=b",
  "/console/files\n",
  "/console/sign-in?next=/console/sign-in",
  "console/files",
  "javascript:alert(1)",
  `/console/${"x".repeat(2_000)}`,
])("%j is not: the first page instead", (page) => {
  expect(nextPageOf(page)).toBe("/console");
});
