import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type ExchangeFixture,
  freshUpload,
  namesOf,
  openFixture,
  put,
  putBroken,
  resumedUpload,
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

describe("the begin of an upload", () => {
  let now = 0;
  beforeEach(async () => {
    await fixture.close();
    now = 1_000;
    fixture = await openFixture({ clock: { now: () => now } });
  });
  const lastArrival = () => fixture.arrivals.at(-1);

  test("is told with its file, and is never after its close", async () => {
    const handle = await fixture.session().openWrite("/inbound/a.xml", freshUpload);
    now = 4_000;
    await handle.close();
    expect(lastArrival()).toMatchObject({ beganAt: 1_000, receivedAt: 4_000 });
    const second = await fixture.session().openWrite("/inbound/b.xml", freshUpload);
    now = 2_000;
    await second.close();
    expect(lastArrival()).toMatchObject({ beganAt: 4_000, receivedAt: 4_000 });
  });

  test("of a file that is renamed is that of the upload that was closed, also by another session", async () => {
    const handle = await fixture.session().openWrite("/inbound/a.xml.part", freshUpload);
    now = 2_000;
    await handle.close();
    const other = fixture.session();
    await other.rename("/inbound/a.xml.part", "/inbound/b.xml.part", { mayReplace: false });
    now = 3_000;
    await other.rename("/inbound/b.xml.part", "/inbound/b.xml", { mayReplace: false });
    expect(lastArrival()).toMatchObject({ name: "b.xml", beganAt: 1_000, receivedAt: 3_000 });
  });

  test("is that of the last upload of the name, and unknown of a part that was never closed", async () => {
    await put(fixture.session(), "/inbound/a.xml.part", "one");
    now = 2_000;
    await put(fixture.session(), "/inbound/a.xml.part", "two");
    const session = fixture.session();
    await session.rename("/inbound/a.xml.part", "/inbound/a.xml", { mayReplace: false });
    expect(lastArrival()?.beganAt).toBe(2_000);
    await put(fixture.session(), "/inbound/c.xml.part", "whole");
    await putBroken(fixture.session(), "/inbound/c.xml.part", "half");
    await session.rename("/inbound/c.xml.part", "/inbound/c.xml", { mayReplace: false });
    expect(lastArrival()).toMatchObject({ name: "c.xml" });
    expect(lastArrival()?.beganAt).toBeUndefined();
  });

  test("of an upload that is continued is that of its continuation", async () => {
    await putBroken(fixture.session(), "/inbound/a.xml", "half");
    now = 5_000;
    const handle = await fixture.session().openWrite("/inbound/a.xml", resumedUpload);
    await handle.write(4, Buffer.from(" and half"));
    now = 6_000;
    await handle.close();
    expect(lastArrival()).toMatchObject({ beganAt: 5_000, receivedAt: 6_000 });
  });
});
