import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type ExchangeFixture,
  freshUpload,
  openFixture,
  put,
  putBroken,
} from "../../../test/support/exchange-fixture.ts";

let fixture: ExchangeFixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const inbound = (name: string): string => join(fixture.home, "inbound", name);
const partial = (name: string): string => inbound(join(".partial", "7", name));

test("the sweep removes old parts, reports old temporary names once, and leaves what is being written", async () => {
  await putBroken(fixture.session(), "/inbound/old.xml", "x");
  const session = fixture.session();
  await put(session, "/inbound/old.part", "x");
  const open = await session.openWrite("/inbound/open.xml", freshUpload);
  await open.write(0, Buffer.from("x"));
  await open.sync();
  await fixture.exchange.sweepPartials({ olderThanMs: 1_000, nowMs: Date.now() });
  expect(await readdir(inbound(".partial/7"))).toHaveLength(3);
  const tomorrow = { olderThanMs: 86_400_000, nowMs: Date.now() + 86_500_000 };
  await fixture.exchange.sweepPartials(tomorrow);
  await fixture.exchange.sweepPartials(tomorrow);
  expect((await readdir(inbound(".partial/7"))).sort()).toEqual(["old.part", "open.xml"]);
  const logged = fixture.logLines.map((line): unknown => JSON.parse(line));
  expect(logged).toHaveLength(2);
  expect(logged).toContainEqual(expect.objectContaining({ level: "info", path: partial("old.xml") }));
  expect(logged).toContainEqual(expect.objectContaining({ level: "warn", path: partial("old.part") }));
});
