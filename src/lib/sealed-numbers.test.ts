import { expect, test } from "vitest";
import { createSealedIntegers, createSealedNumbers, newSealingKey } from "./sealed-numbers.ts";

const key = newSealingKey();
const numbers = createSealedNumbers(key, "file");

test("a number is opened again from its form, in any case, also by another that has the key", () => {
  for (const value of [0, 1, 2, 4_711, Number.MAX_SAFE_INTEGER]) {
    const sealed = numbers.seal(value);
    expect(sealed).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(numbers.seal(value)).toBe(sealed);
    expect(createSealedNumbers(key, "file").open(sealed.toUpperCase())).toBe(value);
  }
});

test("neighbours have nothing in common that tells their distance", () => {
  const sealed = Array.from({ length: 100 }, (_, value) => numbers.seal(value));
  expect(new Set(sealed.map((text) => text.slice(0, 8))).size).toBeGreaterThan(95);
  expect(new Set(sealed.map((text) => text.slice(-8))).size).toBeGreaterThan(95);
});

test.each([
  ["another key", () => createSealedNumbers(newSealingKey(), "file").seal(7)],
  ["another kind", () => createSealedNumbers(key, "event").seal(7)],
  ["no form at all", () => "7"],
  ["a form with a wrong digit", () => numbers.seal(7).replace(/./, (digit) => (digit === "0" ? "1" : "0"))],
])("of %s nothing is opened", (_name, make) => {
  expect(numbers.open(make())).toBeUndefined();
});

test("a number that has to stay one is shown as another, never the same for two, and as the same each time", () => {
  const key = newSealingKey();
  const [loads, others] = [createSealedIntegers(key, "load"), createSealedIntegers(key, "company")];
  const numbers = Array.from({ length: 20_000 }, (_, index) => index);
  const shown = numbers.map(loads);
  expect(new Set(shown).size).toBe(numbers.length);
  expect(shown.every((one) => Number.isInteger(one) && one >= 0 && one < 2 ** 30)).toBe(true);
  expect(numbers.map(createSealedIntegers(key, "load"))).toEqual(shown);
  expect(numbers.filter((one) => others(one) === loads(one)).length).toBeLessThan(5);
  // Neighbours say nothing of each other: half of them go down.
  const falling = shown.filter((one, index) => one < (shown[index - 1] ?? 0)).length;
  expect(falling).toBeGreaterThan(9_000);
  expect(falling).toBeLessThan(11_000);
});
