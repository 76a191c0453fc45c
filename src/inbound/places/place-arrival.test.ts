import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemDisk } from "../../lib/files/durable-file.ts";
import { type PinnedFolder, pinFolder } from "../../lib/files/open-regular-file.ts";
import type { Arrival, ReservationHolder } from "./inbox.ts";
import { nameOfAgainFile, type PlacementDeps, placeArrival } from "./place-arrival.ts";

let folder: string;
let inbound: PinnedFolder;
let notes: string[];
let arrivals: Arrival[];
let deps: PlacementDeps;

let isElsewhere: boolean;
let holder: ReservationHolder;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "place-")));
  await mkdir(join(folder, "inbound"));
  inbound = await pinFolder(folder, ["inbound"]);
  notes = [];
  arrivals = [];
  isElsewhere = false;
  holder = { release: (path) => notes.push(`release ${basename(path)}`) };
  deps = {
    inbox: {
      reserve: (path) => notes.push(`reserve ${basename(path)}`),
      clearReceipt: async ({ name }) => void notes.push(`clear ${name}`),
      holderOf: () => (isElsewhere ? undefined : holder),
    },
  };
});
afterEach(async () => {
  await inbound.close();
  await rm(folder, { recursive: true, force: true });
});

async function place(name: string, text: string, changed: Partial<PlacementDeps> = {}): Promise<string> {
  const from = join(folder, "unfinished");
  await writeFile(from, text);
  const arrival = { companyId: 1, name, channel: "folder", size: text.length } as const;
  const placed = await placeArrival({ ...deps, ...changed }, { from, inbound, arrival });
  arrivals.push(placed);
  return placed.path;
}

test("a file gets its final name, loses the old one and arrives", async () => {
  expect(await place("a.xml", "x")).toBe(join(folder, "inbound", "a.xml"));
  expect(await readdir(folder)).toEqual(["inbound"]);
  expect(arrivals).toMatchObject([{ name: "a.xml", path: join(folder, "inbound", "a.xml") }]);
  expect(notes).toEqual(["reserve a.xml", "clear a.xml"]);
});

test("a taken name goes to .again under a name from which the host's can be read", async () => {
  await place("a.xml", "x");
  const path = await place("a.xml", "y");
  expect(dirname(path)).toBe(join(folder, "inbound", ".again"));
  expect(nameOfAgainFile(basename(path))).toBe("a.xml");
  expect(await readFile(path, "utf8")).toBe("y");
  expect(await readFile(join(folder, "inbound", "a.xml"), "utf8")).toBe("x");
  expect(await readdir(folder)).toEqual(["inbound"]);
  expect(notes.slice(2)).toEqual([
    "reserve a.xml",
    "clear a.xml",
    "release a.xml",
    `reserve ${basename(path)}`,
    "clear a.xml",
  ]);
});

test("where another node has the company each file goes to .again, whatever names are taken there", async () => {
  isElsewhere = true;
  const path = await place("a.xml", "x");
  expect(dirname(path)).toBe(join(folder, "inbound", ".again"));
  expect(arrivals).toMatchObject([{ name: "a.xml", path, reservation: { holder: undefined } }]);
  expect(await readdir(join(folder, "inbound"))).toEqual([".again"]);
});

test("where another node has the company nothing is reserved or given back, for a scan may reserve it meanwhile", async () => {
  isElsewhere = true;
  await place("a.xml", "x");
  const link = async (): Promise<void> => {
    throw Object.assign(new Error("no space"), { code: "ENOSPC" });
  };
  await expect(place("a.xml", "x", { disk: { ...systemDisk, link } })).rejects.toThrow("no space");
  expect(notes).toEqual([]);
});

test("a file whose company comes or goes while it is placed is told by what was reserved for it", async () => {
  const heldBy = () => arrivals.at(-1)?.reservation?.holder;
  await place("a.xml", "x");
  expect(heldBy()).toBe(holder);
  const goes: PlacementDeps["inbox"]["clearReceipt"] = async () => {
    isElsewhere = true;
  };
  await place("a.xml", "y", { inbox: { ...deps.inbox, clearReceipt: goes } });
  expect(heldBy()).toBeUndefined();
  const comes: NonNullable<PlacementDeps["disk"]>["link"] = async (from, to) => {
    isElsewhere = false;
    await systemDisk.link(from, to);
  };
  await place("b.xml", "z", { disk: { ...systemDisk, link: comes } });
  expect(heldBy()).toBeUndefined();
});

test("what was reserved is given back to whoever holds it, though the company has come back to another one", async () => {
  await place("a.xml", "x");
  const next = { release: (path: string) => notes.push(`next releases ${basename(path)}`) };
  const comesBack: PlacementDeps["inbox"]["clearReceipt"] = async () => {
    holder = next;
  };
  await place("a.xml", "y", { inbox: { ...deps.inbox, clearReceipt: comesBack } });
  expect(notes[3]).toBe("release a.xml");
  expect(arrivals.at(-1)?.reservation?.holder).toBe(next);
});

test("the longest names fit into .again and keep their end", async () => {
  const name = `${"ä".repeat(125)}.xml`;
  await place(name, "x");
  const path = await place(name, "y");
  expect(Buffer.byteLength(basename(path))).toBeLessThanOrEqual(255);
  expect(path.endsWith("ä.xml")).toBe(true);
  expect(arrivals[1]?.name).toBe(name);
});

test("when the folder cannot be synced nothing arrives and the scan may have the file", async () => {
  const fsync = async (): Promise<void> => {
    throw Object.assign(new Error("x"), { code: "EIO" });
  };
  await inbound.close();
  inbound = await pinFolder(folder, ["inbound"], { ...systemDisk, fsync });
  await expect(place("a.xml", "x")).rejects.toThrow("x");
  expect(arrivals).toEqual([]);
  expect(notes).toEqual(["reserve a.xml", "clear a.xml", "release a.xml"]);
});

test("when the link fails the file keeps its old name and nothing is reserved", async () => {
  const link = async (): Promise<void> => {
    throw Object.assign(new Error("no space"), { code: "ENOSPC" });
  };
  await expect(place("a.xml", "x", { disk: { ...systemDisk, link } })).rejects.toThrow("no space");
  expect(await readdir(folder)).toContain("unfinished");
  expect(notes).toEqual(["reserve a.xml", "clear a.xml", "release a.xml"]);
});
