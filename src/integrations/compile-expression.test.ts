import { expect, test } from "vitest";
import { compileExpression, faultOfExpression } from "./compile-expression.ts";

function faultOf(text: string) {
  const outcome = compileExpression(text, { timeoutMs: 1_000 });
  return outcome.kind === "faulty" ? outcome.fault : undefined;
}

test("an expression that is right compiles", () => {
  expect(faultOf('{ "orders": [lines.{ "orderNbr": $string(number) }] }')).toBeUndefined();
});

test("a broken one names line, column and the text around", () => {
  const text = '{\n  "companyCode": $companyCode,\n  "orders": [ lines. }\n}';
  expect(faultOf(text)).toEqual({
    message: 'The symbol "}" cannot be used as a unary operator',
    line: 3,
    column: 22,
    excerpt: '"orders": [ lines. }',
  });
});

test("the end of an expression that stops too early is its place", () => {
  expect(faultOf("lines[0")).toMatchObject({ line: 1, column: 7, message: expect.stringContaining('"]"') });
});

test("a very long line is cut around the place", () => {
  const fault = faultOf(`${"a + ".repeat(200)}} ${" + b".repeat(200)}`);
  expect(fault?.column).toBe(801);
  expect(fault?.excerpt?.length).toBeLessThanOrEqual(80);
});

test("nesting without end is a fault and no crash", () => {
  expect(faultOf("(".repeat(200_000))?.message).toMatch(/nested too deep|limit|depth/i);
});

test.each([
  ["$sum(lines.quantity)", "number"],
  ["lines.$uppercase(quantity)", "uppercase"],
  ['$error("no lines at " & place)', "no lines at"],
])("what goes wrong in %s is told with its place and without a stack", async (text, words) => {
  const outcome = compileExpression(text, { timeoutMs: 1_000 });
  if (outcome.kind === "faulty") throw new Error(outcome.fault.message);
  const thrown: unknown = await outcome.expression
    .evaluate({ lines: [{ quantity: "x" }, { quantity: 2 }] })
    .catch((error: unknown) => error);
  const fault = faultOfExpression(thrown, text);
  expect(fault.message).toContain(words);
  expect(fault).toMatchObject({ line: 1, column: expect.any(Number) });
  expect(JSON.stringify(fault)).not.toMatch(/node_modules|jsonata\.js| at \S+ \(/);
});
