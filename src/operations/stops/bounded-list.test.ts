import { expect, test } from "vitest";
import { BoundedList } from "./bounded-list.ts";

test("a list of an answer is a JSON array of its entries", () => {
  const list = new BoundedList("Ask for less.");
  expect([list.json, list.length]).toEqual(["[]", 0]);
  list.add("1");
  list.add('{"a":2}');
  expect([list.json, list.length]).toEqual(['[1,{"a":2}]', 2]);
});

test("a list of an answer has at most 128 MiB, and is refused with what to ask for instead", () => {
  const list = new BoundedList("Ask for less.");
  // Counted with the comma; ä has two bytes.
  const half = "ä".repeat(32 * 1024 * 1024 - 1);
  list.add(`${half}"`);
  list.add(`${half}"`);
  expect(() => list.add("")).toThrow("the answer is larger than 128 MiB. Ask for less.");
  expect(list.length).toBe(2);
});

test.each([
  ["x", 1],
  ["€", 3],
  ["😀", 4],
])("of texts of %s a list has 128 MiB of UTF-8, however many there are", (character, bytes) => {
  const list = new BoundedList("Ask for less.");
  const megabyte = character.repeat((1024 * 1024) / bytes);
  const entries = Math.floor((128 * 1024 * 1024) / (Buffer.byteLength(megabyte) + 1));
  for (let entry = 0; entry < entries; entry += 1) list.add(megabyte);
  expect(() => list.add(megabyte)).toThrow("the answer is larger than 128 MiB. Ask for less.");
});
