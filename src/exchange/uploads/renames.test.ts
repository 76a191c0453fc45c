import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type ExchangeFixture,
  namesOf,
  openFixture,
  put,
  putBroken,
} from "../../../test/support/exchange-fixture.ts";
import { systemDisk } from "../../lib/files/durable-file.ts";

let fixture: ExchangeFixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const inbound = (name: string): string => join(fixture.home, "inbound", name);

test("a rename onto a waiting file fails, and arrives beside it when the client may replace", async () => {
  const session = fixture.session();
  await put(session, "/inbound/a.xml", "one");
  await put(session, "/inbound/a.xml.part", "two");
  const refused = session.rename("/inbound/a.xml.part", "/inbound/a.xml", { mayReplace: false });
  await expect(refused).rejects.toMatchObject({ kind: "alreadyExists" });
  await session.rename("/inbound/a.xml.part", "/inbound/a.xml", { mayReplace: true });
  expect(fixture.arrivals).toHaveLength(2);
  expect(await readFile(inbound("a.xml"), "utf8")).toBe("one");
});

test("unfinished files are renamed among themselves and deleted", async () => {
  const session = fixture.session();
  await put(session, "/inbound/a.tmp", "x");
  await session.rename("/inbound/a.tmp", "/inbound/b.tmp", { mayReplace: false });
  expect(await namesOf(session, "/inbound")).toEqual(["b.tmp"]);
  await session.remove("/inbound/b.tmp");
  expect(await namesOf(session, "/inbound")).toEqual([]);
});

test("a rename onto one's own unfinished file fails without a line in the log, and replaces it when the client may", async () => {
  const session = fixture.session();
  await put(session, "/inbound/a.tmp", "of a");
  await putBroken(fixture.session(), "/inbound/b.tmp", "of b");
  const refused = session.rename("/inbound/a.tmp", "/inbound/b.tmp", { mayReplace: false });
  await expect(refused).rejects.toMatchObject({ kind: "alreadyExists" });
  expect(fixture.logLines).toEqual([]);
  expect(await namesOf(session, "/inbound")).toEqual(["a.tmp", "b.tmp"]);
  await session.rename("/inbound/a.tmp", "/inbound/b.tmp", { mayReplace: true });
  expect(await namesOf(session, "/inbound")).toEqual(["b.tmp"]);
  expect(await readFile(inbound(".partial/7/b.tmp"), "utf8")).toBe("of a");
});

test("what the disk refuses is told in the log", async () => {
  await fixture.close();
  const link = async (): Promise<void> => {
    throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
  };
  fixture = await openFixture({ disk: { ...systemDisk, link } });
  const session = fixture.session();
  await put(session, "/inbound/a.tmp", "of a");
  const refused = session.rename("/inbound/a.tmp", "/inbound/b.tmp", { mayReplace: false });
  await expect(refused).rejects.toMatchObject({ kind: "failure" });
  expect(fixture.logLines.join("")).toContain("a request of the file exchange failed");
});
