/** The disks that a state fills: its own, and those of the folders that targets name. */
import { constants } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { agesOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { longestOf } from "../../domain/retention/retention.ts";
import { systemClock } from "../../lib/clock.ts";
import type { StateGrowth } from "../../store/database/inspect-store.ts";
import type { OutboundTarget } from "../../store/outbound/outbound-targets.ts";
import { allTargetsOf } from "../daemon/outbound-targets.ts";
import { minFreeBytesOf } from "../daemon/part-options.ts";
import { probeFolder } from "./folder-probe.ts";
import { type Growing, type GrowingKind, growingOf, keptForEver } from "./growth-forecast.ts";

export interface FilledDisk {
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
  readonly companies: readonly string[];
  readonly targets: readonly OutboundTarget[];
}

/** How many days something is kept, by the company that keeps it longest. */
function keptDaysOf({ config, companies }: GrowingSite): (what: GrowingKind) => number {
  return (what) => {
    if (what === keptForEver) return Number.POSITIVE_INFINITY;
    const age = longestOf(companies.map((code) => agesOf(config, code)[what]));
    return age === "keep" ? Number.POSITIVE_INFINITY : age;
  };
}

async function roomOf(folder: string, least: (diskBytes: number) => number): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return Math.max(0, bavail * bsize - least(blocks * bsize));
}

/** The disk of the state, and what all kinds add to it. */
export async function stateDiskOf(site: GrowingSite, { growth, days }: MeasuredGrowth): Promise<FilledDisk> {
  const { config } = site;
  const { stateDir } = config;
  const basis = { days, now: systemClock.now(), keptDays: keptDaysOf(site) };
  return {
    folder: stateDir,
    room: await roomOf(stateDir, minFreeBytesOf(config)),
    growing: growingOf(growth, basis),
  };
}

interface FilledFolder {
  readonly path: string;
  readonly growing: Growing;
}

/** What stays in the folders of targets. Without a path it is the company's own, on the disk of the state. */
function filledFolders(
  { config, targets }: GrowingSite,
  { growth, days }: MeasuredGrowth,
): readonly FilledFolder[] {
  const recent = growth.tables.find(({ table }) => table === "deliveries")?.recent ?? 0;
  return targets.flatMap(({ id, companyCode, name }) => {
    const settings = allTargetsOf(config, companyCode).get(name);
    const bytes = growth.delivered.find(({ targetId }) => targetId === id)?.bytes ?? 0;
    if (settings?.type !== "folder" || bytes * recent === 0) return [];
    const what = `files of the target ${name} of ${companyCode}`;
    const growing = { what, bytesPerDay: (bytes * recent) / days, days: Number.POSITIVE_INFINITY };
    return [{ path: settings.path ?? config.stateDir, growing }];
  });
}

/** All disks, that of the state first. A folder that cannot be used is told with its target. */
export async function filledDisksOf(
  site: GrowingSite,
  measured: MeasuredGrowth,
): Promise<readonly FilledDisk[]> {
  const state = await stateDiskOf(site, measured);
  const disks = new Map([[(await stat(state.folder)).dev, state]]);
  for (const { path, growing } of filledFolders(site, measured)) {
    const probe = await probeFolder({ path, rights: constants.R_OK });
    if (probe.kind !== "usable") continue;
    const known = disks.get(probe.dev) ?? { folder: path, room: await roomOf(path, () => 0), growing: [] };
    const all = [...known.growing, growing].toSorted((a, b) => b.bytesPerDay - a.bytesPerDay);
    disks.set(probe.dev, { ...known, growing: all });
  }
  return [...disks.values()];
}
