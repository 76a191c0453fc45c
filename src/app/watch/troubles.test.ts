import { expect, test } from "vitest";
import { troublesOf } from "./troubles.ts";

const well = { damage: undefined, held: [], noRoom: [], deliveryHold: undefined, now: 0 };

test("a node of which all is well has no trouble", () => {
  expect(troublesOf(well)).toEqual([]);
});

test("a node whose program is too old is in trouble with the database, and is not ready", () => {
  const message = "this dropgate is too old for the database";
  expect(troublesOf({ ...well, tooOld: message })).toEqual([{ check: "database", message }]);
});

test("a node whose tree does not answer is in trouble with files, and is not ready", () => {
  const message = "the state directory does not answer";
  expect(troublesOf({ ...well, treeFault: message })).toEqual([{ check: "files", message }]);
});

test("a node that gives its companies away is in trouble as a node, and is not ready", () => {
  const message = expect.stringContaining("gate-1") as string;
  expect(troublesOf({ ...well, drainingNode: "gate-1" })).toEqual([{ check: "node", message }]);
});
