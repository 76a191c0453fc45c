import { expect, test } from "vitest";
import { differenceOf } from "./audit-difference.ts";

test("only what differs is told, by its path", () => {
  const before = { roles: ["MemberAdmin", "DI_Inquiry"], sign: { enabled: true, keys: 2 } };
  const after = { roles: ["DI_Inquiry"], sign: { enabled: true, keys: 3 } };
  expect(differenceOf(before, after)).toEqual([
    { path: "roles", before: "MemberAdmin, DI_Inquiry", after: "DI_Inquiry" },
    { path: "sign.keys", before: "2", after: "3" },
  ]);
});

test("what was not there before, or is no more, is told as such", () => {
  expect(differenceOf(undefined, { key: "SHA256:x" })).toEqual([
    { path: "key", before: undefined, after: "SHA256:x" },
  ]);
  expect(differenceOf({ pausedUntil: null, by: "anna" }, {})).toEqual([
    { path: "by", before: "anna", after: undefined },
  ]);
});

test("without before and after nothing differs", () => {
  expect(differenceOf(undefined, undefined)).toEqual([]);
  expect(differenceOf({ a: 1 }, { a: 1 })).toEqual([]);
});

test("lists of texts and of numbers are told without brackets", () => {
  expect(differenceOf({ reasons: [925, 951] }, {})).toEqual([
    { path: "reasons", before: "925, 951", after: undefined },
  ]);
});

test("values that are no objects, and lists of objects, are told as JSON", () => {
  expect(differenceOf("a", "b")).toEqual([{ path: "", before: "a", after: "b" }]);
  expect(differenceOf({ list: [{ a: 1 }] }, {})).toEqual([
    { path: "list", before: '[{"a":1}]', after: undefined },
  ]);
});
