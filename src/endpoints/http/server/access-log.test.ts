import { afterEach, expect, test, vi } from "vitest";
import { createLogger } from "../../../lib/logs/log.ts";
import { AccessLog } from "./access-log.ts";

afterEach(() => void vi.useRealTimers());

function make() {
  vi.useFakeTimers();
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (text: string) => void lines.push(JSON.parse(text)) };
  const log = createLogger({ level: "info", destination });
  return { lines, access: new AccessLog(log) };
}

const line = (status: number, user?: string, company?: string) => ({
  ...{ status, user, company, requestId: "r", method: "GET", path: "/x", address: "192.0.2.1" },
});

test("a flood of requests of strangers is some lines and a sum, and hides nothing of those who are known", () => {
  const { lines, access } = make();
  for (let nth = 0; nth < 10_000; nth += 1) access.write(line(nth % 2 === 0 ? 401 : 429));
  access.write(line(400, "host", "ACME"));
  access.write(line(200, "host", "ACME"));
  expect(lines).toHaveLength(12);
  expect(lines.slice(-2)).toMatchObject([{ status: 400, user: "host" }, { status: 200 }]);
  vi.advanceTimersByTime(5_000);
  expect(lines).toHaveLength(13);
  expect(lines.at(-1)).toMatchObject({
    ...{ msg: "http request", more: 9_990 },
    status: { different: 2, most: { 401: 4_995, 429: 4_995 } },
    address: { most: { "192.0.2.1": 9_990 } },
  });
});

test("refusals of one company are bounded, and those of another have their own lines", () => {
  const { lines, access } = make();
  for (let nth = 0; nth < 1_000; nth += 1) access.write(line(400, "mallory", "OTHER"));
  access.write(line(404, "host", "ACME"));
  expect(lines).toHaveLength(101);
  expect(lines.at(-1)).toMatchObject({ company: "ACME", status: 404 });
  access.flush();
  expect(lines.at(-1)).toMatchObject({ more: 900, company: { most: { OTHER: 900 } } });
});

test("what was done, and what failed, is always written", () => {
  const { lines, access } = make();
  for (let nth = 0; nth < 300; nth += 1) access.write(line(200, "host", "ACME"));
  for (let nth = 0; nth < 300; nth += 1) access.write(line(500));
  for (let nth = 0; nth < 300; nth += 1) access.write(line(0, "host", "ACME"));
  expect(lines).toHaveLength(900);
});

test("what is no request at all is bounded too", () => {
  const { lines, access } = make();
  for (let nth = 0; nth < 300; nth += 1) access.broken({ status: 400, reason: "Parse Error" });
  expect(lines).toHaveLength(10);
});
