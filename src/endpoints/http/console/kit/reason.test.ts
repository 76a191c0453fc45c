import { expect, test } from "vitest";
import { longestReason } from "./forms.ts";
import { readReason } from "./reason.ts";

const faultOf = (reason: string) => readReason(new URLSearchParams({ reason })).fault;

test("a reason is as long as its field lets it be, which counts a line break once", () => {
  const lines = "a\r\n".repeat(longestReason / 2 - 1);
  expect(faultOf(`${lines}ab`)).toBeUndefined();
  expect(readReason(new URLSearchParams({ reason: "one\r\ntwo " })).reason).toBe("one\ntwo");
  expect(faultOf(`${lines}abc`)).toContain("more than 500");
  expect(faultOf(" \r\n ")).toContain("Give a reason");
});
