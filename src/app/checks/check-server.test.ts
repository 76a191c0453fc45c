import { expect, test } from "vitest";
import type { ServerFacts } from "../../store/database/postgres/server-facts.ts";
import { problem } from "../watch/check-finding.ts";
import { checkServer } from "./check-server.ts";

const good: ServerFacts = {
  ...{ version: "15.4", versionNumber: 150_004, encoding: "UTF8", synchronousCommit: "on", fsync: "on" },
  ...{ fault: undefined, isStandby: false, clockAheadMs: 20, mayCreate: true, isTimeoutSet: true },
  ...{ tls: undefined, isRemote: false, freeSessions: 97, neededSessions: 17 },
};

const told = (facts: Partial<ServerFacts>) =>
  checkServer({ ...good, ...facts })
    .filter(({ status }) => status !== "ok")
    .map(({ status, what }) => `${status}: ${what}`);

test("a server that is set well has one line, about its sessions", () => {
  expect(told({})).toEqual([]);
  expect(checkServer(good)).toHaveLength(1);
});

test("a standby is a problem for an upgrade", () => {
  const found = checkServer({ ...good, isStandby: true }, problem);
  expect(found.filter(({ status }) => status === "problem")).toHaveLength(1);
});

test.each<[Partial<ServerFacts>, RegExp]>([
  [{ fault: { what: "PostgreSQL 14.2 is too old", remedy: "15 or newer is needed" } }, /^problem: .*too old/],
  [{ fsync: "off" }, /^problem: fsync is off/],
  [{ synchronousCommit: "local" }, /^warning: synchronous_commit is local/],
  [{ clockAheadMs: 2_001 }, /^warning: .*2\.0 s ahead of/],
  [{ clockAheadMs: -60_000 }, /^warning: .*60\.0 s behind that/],
  [{ isRemote: true }, /^warning: .*without TLS$/],
  [{ freeSessions: 15 }, /^problem: PostgreSQL leaves 15 sessions .* up to 17$/],
  [{ isStandby: true, mayCreate: false }, /^warning: .*standby.* waits until it does/],
  [{ mayCreate: false }, /^problem: .*may not make tables/],
  [{ isTimeoutSet: false }, /^problem: .*idles in a transaction/],
])("%j is told", (facts, line) => {
  expect(told(facts)).toEqual([expect.stringMatching(line)]);
});
