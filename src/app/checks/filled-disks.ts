/** The disks that a state fills: its own, those of the folders that targets name, and that of `retention.moveTo`. */
import { constants } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { agesOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { systemClock } from "../../lib/clock.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import type { StateGrowth } from "../../store/database/inspect-store.ts";
import type { OutboundTarget } from "../../store/outbound/outbound-targets.ts";
import { allTargetsOf } from "../daemon/outbound-targets.ts";
import { minFreeBytesOf } from "../daemon/part-options.ts";
import { probeFolder, type ProbeFolder, probesAtOnce } from "./folder-probe.ts";
import { type Growing, type GrowingKind, growthOf, type KindGrowth, keptForEver } from "./growth-forecast.ts";

export interface FilledDisk {
  /** The first folder that was found on it. */
  readonly folder: string;
  /** Bytes that may still be used. */
  readonly room: number;
  readonly growing: readonly Growing[];
}

export interface MeasuredGrowth {
  readonly growth: StateGrowth;
  /** Of the period that it was measured over. */
  readonly days: number;
}

export interface GrowingSite {
  readonly config: Config;
  readonly targets: readonly OutboundTarget[];
}

/** A folder on a disk that can be asked. */
interface Place {
  /** The number of its file system. */
  readonly dev: number;
  readonly room: number;
}

/** Where the folders lie that fill; one that cannot be used is missing: other findings tell of it. */
export interface Places {
  readonly state: Place;
  readonly others: ReadonlyMap<string, Place>;
}

/** How many days something is kept by a company. */
function keptDaysOf(config: Config): (what: GrowingKind, companyCode: string) => number {
  return (what, companyCode) => {
    const age = what === keptForEver ? "keep" : agesOf(config, companyCode)[what];
    return age === "keep" ? Number.POSITIVE_INFINITY : age;
  };
}

async function placeOfState(config: Config): Promise<Place> {
  const { stateDir } = config;
  const { bavail, blocks, bsize } = await statfs(stateDir);
  const room = Math.max(0, bavail * bsize - minFreeBytesOf(config)(blocks * bsize));
  return { dev: (await stat(stateDir)).dev, room };
}

type NamingSite = Pick<GrowingSite, "config"> & {
  readonly targets: readonly Pick<OutboundTarget, "companyCode" | "name">[];
};

function namedFolders({ config, targets }: NamingSite): readonly string[] {
  const ofTargets = targets.map(({ companyCode, name }) => allTargetsOf(config, companyCode).get(name));
  const paths = ofTargets.flatMap((settings) => (settings?.type === "folder" ? [settings.path] : []));
  return [...new Set([...paths, config.retention.moveTo])].filter((path) => path !== undefined);
}

/** Asks for the room of all disks: of folders, which may be on shares that do not answer, by a process with a time limit. */
export async function findPlaces(site: NamingSite, probe: ProbeFolder = probeFolder): Promise<Places> {
  const found = await mapConcurrently(namedFolders(site), probesAtOnce, async (path) => {
    const answer = await probe({ path, rights: constants.R_OK });
    return answer.kind === "usable" ? [[path, { dev: answer.dev, room: answer.freeBytes }] as const] : [];
  });
  return { state: await placeOfState(site.config), others: new Map(found.flat()) };
}

/** On the disk with that number, or another. */
interface Filling extends Growing {
  readonly folder: string;
  readonly place: Place;
}

const movedKinds: readonly string[] = ["archive", "error", "receipts"];

/** What the state itself adds to disks. What is moved on its own disk stays on it. */
function ofState({ config }: GrowingSite, places: Places, kinds: readonly KindGrowth[]): readonly Filling[] {
  const { stateDir: folder, retention } = config;
  const { moveTo } = retention;
  const to = moveTo === undefined ? undefined : places.others.get(moveTo);
  const here = { folder, place: places.state };
  return kinds.flatMap((kind): Filling[] => {
    if (moveTo === undefined || !movedKinds.includes(kind.what)) return [{ ...kind, ...here }];
    const { goneAfter } = kind;
    const stays = (days: number) => kind.bytesAfter(days) + goneAfter(days);
    // Without the folder nothing is moved.
    if (to === undefined) return [{ what: kind.what, bytesAfter: stays, ...here }];
    const moved = { what: `what is moved from ${kind.what}`, bytesAfter: goneAfter, folder: moveTo };
    return [
      { ...kind, ...here },
      { ...moved, place: to },
    ];
  });
}

/** What stays in the folders of targets. Without a path it is the company's own, on the disk of the state. */
function ofTargets(
  { config, targets }: GrowingSite,
  places: Places,
  { growth, days }: MeasuredGrowth,
): readonly Filling[] {
  const recent = growth.tables.find(({ table }) => table === "deliveries")?.recent ?? 0;
  return targets.flatMap(({ id, companyCode, name }) => {
    const settings = allTargetsOf(config, companyCode).get(name);
    const bytes = growth.delivered.find(({ targetId }) => targetId === id)?.bytes ?? 0;
    if (settings?.type !== "folder" || bytes * recent === 0) return [];
    const folder = settings.path ?? config.stateDir;
    const place = settings.path === undefined ? places.state : places.others.get(settings.path);
    if (place === undefined) return [];
    const what = `files of the target ${name} of ${companyCode}`;
    return [{ what, folder, place, bytesAfter: (after) => (bytes * recent * after) / days }];
  });
}

/** All disks that something fills, by their numbers; that of the state always, and first. */
export function filledDisksOf(
  site: GrowingSite,
  places: Places,
  measured: MeasuredGrowth,
): ReadonlyMap<number, FilledDisk> {
  const { config } = site;
  const { growth, days } = measured;
  const kinds = growthOf(growth, { days, now: systemClock.now(), keptDays: keptDaysOf(config) });
  const { state } = places;
  const disks = new Map<number, FilledDisk>([
    [state.dev, { folder: config.stateDir, room: state.room, growing: [] }],
  ]);
  for (const { folder, place, ...growing } of [
    ...ofState(site, places, kinds),
    ...ofTargets(site, places, measured),
  ]) {
    const known = disks.get(place.dev) ?? { folder, room: place.room, growing: [] };
    disks.set(place.dev, { ...known, growing: [...known.growing, growing] });
  }
  return disks;
}
