import { expect, test } from "vitest";
import { InFlight } from "./in-flight.ts";

const row = (id: number, orderKey: string) => ({ id, orderKey });

test("one delivery of a line is in flight at a time, and others of it are remembered as wanted", () => {
  const inFlight = new InFlight();
  expect(inFlight.take(row(1, "S1"))).toBe(true);
  expect(inFlight.take(row(2, "S2"))).toBe(true);
  expect(inFlight.take(row(3, "S1"))).toBe(false);
  expect([...inFlight.ids]).toEqual([1, 2]);
  expect(inFlight.release(row(2, "S2"))).toBe(false);
  expect(inFlight.release(row(1, "S1"))).toBe(true);
  expect([...inFlight.ids]).toEqual([]);
  expect(inFlight.take(row(3, "S1"))).toBe(true);
  expect(inFlight.release(row(3, "S1"))).toBe(false);
});

test("moves of a delivery to another name are counted until it is delivered or fails", () => {
  const inFlight = new InFlight();
  const one = row(1, "S1");
  inFlight.noteMove(one, true);
  inFlight.noteMove(one, true);
  expect([inFlight.movesOf(one), inFlight.movesOf(row(2, "S2"))]).toEqual([2, 0]);
  inFlight.noteMove(one, false);
  expect(inFlight.movesOf(one)).toBe(0);
});
