import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLimitedLog } from "./limited-log.ts";

interface Line {
  readonly level: string;
  readonly fields: object;
  readonly message: string;
}

let lines: Line[];

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
});
afterEach(() => vi.useRealTimers());

function make() {
  const keep = (level: string) => (fields: unknown, message?: unknown) => {
    lines.push({ level, fields: fields as object, message: String(message) });
  };
  const log = { info: keep("info"), warn: keep("warn") };
  return createLimitedLog(log, { maxLines: 2, windowMs: 5_000 });
}

test("the first lines of a kind are written as they are, at once", () => {
  const log = make();
  log.info({ address: "192.0.2.1", attempts: 3 }, "refused");
  log.warn({}, "refused");
  expect(lines).toEqual([
    { level: "info", fields: { address: "192.0.2.1", attempts: 3 }, message: "refused" },
    { level: "warn", fields: {}, message: "refused" },
  ]);
});

test("more of them are summed up in one line at the end of the window, and the next window begins anew", () => {
  const log = make();
  for (let index = 0; index < 2_002; index += 1) {
    log.info({ address: `192.0.2.${index % 7}`, reason: "banned", id: index }, "refused");
  }
  expect(lines).toHaveLength(2);
  vi.advanceTimersByTime(5_000);
  expect(lines).toHaveLength(3);
  expect(lines[2]).toMatchObject({
    level: "info",
    message: "refused",
    fields: { more: 2_000, address: { different: 7 }, reason: { different: 1, most: { banned: 2_000 } } },
  });
  expect(lines[2]?.fields).not.toHaveProperty("id");
  log.info({ address: "192.0.2.9" }, "refused");
  expect(lines).toHaveLength(4);
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(4);
});

test("the addresses that stood in most lines are named, however many there were", () => {
  const log = make();
  for (let index = 0; index < 5_000; index += 1) {
    const address = index % 2 === 0 ? "192.0.2.1" : `10.0.${index >> 8}.${index & 255}`;
    log.info({ address }, "refused");
  }
  log.flush();
  expect(lines[2]).toMatchObject({
    fields: { address: { different: "more than 1000", most: { "192.0.2.1": 2_499 } } },
  });
  expect(JSON.stringify(lines[2]).match(/10\.0\./g)).toHaveLength(4);
});

test("kinds are summed up apart, and a flush writes what is left", () => {
  const log = make();
  for (let index = 0; index < 5; index += 1) {
    log.info({}, "refused");
    log.info({}, "dropped");
  }
  log.flush();
  log.flush();
  expect(lines.slice(4).map(({ message, fields }) => [message, fields])).toEqual([
    ["refused", { more: 3 }],
    ["dropped", { more: 3 }],
  ]);
});
