import { describe, expect, test } from "vitest";
import { retryAfterMs } from "./https-answer.ts";

const now = Date.UTC(2026, 10, 5, 12);

describe("Retry-After", () => {
  test.each([
    ["0", 0],
    ["120", 120_000],
    [" 7 ", 7_000],
    ["Thu, 05 Nov 2026 12:00:30 GMT", 30_000],
    ["Thu, 05 Nov 2026 11:00:00 GMT", 0],
    ["Thursday, 05-Nov-26 12:00:10 GMT", 10_000],
  ])("%s asks for %i ms", (value, ms) => expect(retryAfterMs(value, now)).toBe(ms));

  test.each([undefined, "", "soon", "-5", "1.5", "1e9", "99999999999", "2026-11-05"])(
    "%s asks for nothing",
    (value) => expect(retryAfterMs(value, now)).toBeUndefined(),
  );
});
