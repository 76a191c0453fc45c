/** Two exchanges over one tree, as nodes have it: which of them has an unfinished upload. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  appendUpload,
  type ExchangeFixture,
  freshUpload,
  namesOf,
  openFixture,
  put,
  putBroken,
  resumedUpload,
} from "../../../test/support/exchange-fixture.ts";
import { nodesFolderName } from "../folders/company-folders.ts";

interface Nodes {
  readonly one: ExchangeFixture;
  readonly two: ExchangeFixture;
  /** Who the nodes think is there. */
  readonly live: Set<string>;
  readonly home: string;
}

async function openNodes(): Promise<Nodes> {
  const live = new Set(["one", "two"]);
  const isLive = async (incarnation: string) => live.has(incarnation);
  const one = await openFixture({ node: { incarnation: "one", isLive } });
  const two = await openFixture({
    node: { incarnation: "two", isLive },
    companiesDir: one.companiesDir,
  });
  onTestFinished(async () => {
    await two.close();
    await one.close();
  });
  return { one, two, live, home: one.home };
}

const arrivedText = (home: string, name = "a.xml") => readFile(join(home, "inbound", name), "utf8");
const partsIn = async (home: string) =>
  (await readdir(join(home, "inbound", ".partial", "7"))).filter((name) => name !== nodesFolderName);
const denied = expect.objectContaining({ kind: "permissionDenied" });
const muchText = "x".repeat(100_000);

test("a part of a broken upload is continued on another node", async () => {
  const { one, two, home } = await openNodes();
  await putBroken(one.session(), "/inbound/a.xml", "first ");
  const session = two.session();
  expect(await session.stat("/inbound/a.xml")).toMatchObject({ size: 6 });
  const handle = await session.openWrite("/inbound/a.xml", resumedUpload);
  await handle.write(6, Buffer.from("second"));
  await handle.close();
  expect(await arrivedText(home)).toBe("first second");
  expect(await partsIn(home)).toEqual([]);
});

test("of two nodes that continue a part at the same moment one has it, and the other is refused", async () => {
  const { one, two, home } = await openNodes();
  for (let round = 0; round < 20; round += 1) {
    const name = `r${round}.xml`;
    const path = `/inbound/${name}`;
    await putBroken(one.session(), path, muchText);
    const tries = await Promise.allSettled(
      [one, two].map(async (node, at) => {
        const handle = await node.session().openWrite(path, resumedUpload);
        return { handle, text: at === 0 ? "of one" : "of two" };
      }),
    );
    const won = tries.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const lost = tries.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    expect(lost).toEqual([denied]);
    const [winner] = won;
    await winner?.handle.write(muchText.length, Buffer.from(winner.text));
    await winner?.handle.close();
    expect(await arrivedText(home, name)).toBe(`${muchText}${winner?.text}`);
  }
});

test.each([
  ["a new upload", freshUpload],
  ["one that continues it", resumedUpload],
  ["one that adds to it", appendUpload],
])(
  "%s is refused while another node has an upload of the name; so are its removal and its new name",
  async (_, flags) => {
    const { one, two, home } = await openNodes();
    const handle = await one.session().openWrite("/inbound/a.xml", freshUpload);
    await handle.write(0, Buffer.from("whole"));
    await handle.sync?.();
    const other = two.session();
    await expect(other.openWrite("/inbound/a.xml", flags)).rejects.toEqual(denied);
    await expect(other.remove("/inbound/a.xml")).rejects.toEqual(denied);
    await expect(other.rename("/inbound/a.xml", "/inbound/b.xml", { mayReplace: true })).rejects.toEqual(
      denied,
    );
    expect(await other.stat("/inbound/a.xml")).toMatchObject({ size: 5 });
    expect(await namesOf(other, "/inbound")).toEqual([".a.xml.partial"]);
    await handle.close();
    expect(await arrivedText(home)).toBe("whole");
  },
);

test("a node that was frozen and wakes up neither writes into nor links what another one continues", async () => {
  const { one, two, live, home } = await openNodes();
  const frozen = await one.session().openWrite("/inbound/a.xml", freshUpload);
  await frozen.write(0, Buffer.from(muchText));
  await frozen.sync?.();
  live.delete("one");
  const session = two.session();
  expect(await session.stat("/inbound/a.xml")).toMatchObject({ size: muchText.length });
  const handle = await session.openWrite("/inbound/a.xml", resumedUpload);
  await frozen.write(muchText.length, Buffer.from("of one"));
  await frozen.sync?.();
  await expect(frozen.close()).rejects.toMatchObject({ kind: "noSuchFile" });
  expect(await readdir(join(home, "inbound"))).toEqual([".again", ".partial"]);
  await handle.write(muchText.length, Buffer.from("of two"));
  await handle.close();
  expect(await arrivedText(home)).toBe(`${muchText}of two`);
  expect(one.arrivals).toEqual([]);
});

test("what says that it is unfinished is renamed on another node", async () => {
  const { one, two, home } = await openNodes();
  await put(one.session(), "/inbound/a.part", "whole");
  const session = two.session();
  await session.rename("/inbound/a.part", "/inbound/b.part", { mayReplace: false });
  await put(one.session(), "/inbound/c.part", "other");
  await expect(
    session.rename("/inbound/c.part", "/inbound/b.part", { mayReplace: false }),
  ).rejects.toMatchObject({ kind: "alreadyExists" });
  await session.rename("/inbound/b.part", "/inbound/a.xml", { mayReplace: false });
  expect(await arrivedText(home)).toBe("whole");
  expect(await partsIn(home)).toEqual(["c.part"]);
});

test("a new upload takes the place of a part", async () => {
  const { one, two, home } = await openNodes();
  await putBroken(one.session(), "/inbound/a.xml", "old and long");
  await put(two.session(), "/inbound/a.xml", "new");
  expect(await arrivedText(home)).toBe("new");
  expect(await partsIn(home)).toEqual([]);
});

test("the sweep leaves what live nodes write, and removes what dead ones have left once it is old", async () => {
  const { one, two, live, home } = await openNodes();
  const open = await one.session().openWrite("/inbound/a.xml", freshUpload);
  await open.write(0, Buffer.from("half"));
  await open.sync?.();
  const inTwoDays = { olderThanMs: 86_400_000, nowMs: Date.now() + 2 * 86_400_000 };
  const folder = join(home, "inbound", ".partial", "7", nodesFolderName);
  await two.exchange.sweepPartials(inTwoDays);
  expect(await readdir(join(folder, "one"))).toEqual(["a.xml"]);
  live.delete("one");
  await two.exchange.sweepPartials({ ...inTwoDays, nowMs: Date.now() });
  expect(await readdir(join(folder, "one"))).toEqual(["a.xml"]);
  await two.exchange.sweepPartials(inTwoDays);
  expect(await readdir(folder)).not.toContain("one");
});
