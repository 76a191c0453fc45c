/**
 * Uploads over SFTP beside OpenSSH's own server: the same client, the same files, the same durability, turn by turn.
 *
 * OpenSSH's server makes a file durable when the client asks for it (`put -f`); dropgate does so before it answers the
 * close, and the name of the file as well. Files with a final name are taken in by the pipeline while the next ones are
 * still coming; those with an unfinished name are not, which shows what the SFTP side costs alone.
 */
import { mkdir, readdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { newFolder, settleDisk } from "./support/folders.ts";
import { type Measurement, ratiosOf } from "./support/measurement.ts";
import { runSftp, untilServing } from "./support/sftp-client.ts";
import { sampleName, sampleStop } from "./sample-stop.ts";
import {
  cpuMsOf,
  type DaemonSite,
  prepareDaemon,
  type SftpSite,
  startDaemon,
  startSshd,
} from "./support/sites.ts";

interface Sites {
  readonly daemon: DaemonSite;
  readonly sshd: SftpSite;
  /** Folder of the client. */
  readonly work: string;
}

interface Round {
  readonly perSecond: number;
  /** Processor time of the daemon while the session lasted; 0 for the other server, which is several processes. */
  readonly cpuMs: number;
  /** From the start of the session until every file has left the inbox. */
  readonly donePerSecond: number;
}

let serial = 0;

/** Folder with files that no round before has sent. */
async function makeFiles(work: string, count: number, suffix: string): Promise<string> {
  const folder = join(work, `files-${serial}`);
  await mkdir(folder);
  for (let index = 0; index < count; index += 1) {
    const { stopNbr, name } = sampleName(serial * count + index);
    await writeFile(join(folder, `${name}${suffix}`), sampleStop(stopNbr));
  }
  serial += 1;
  return folder;
}

async function makeLargeFile(work: string, megabytes: number): Promise<string> {
  const folder = join(work, "large");
  await mkdir(folder);
  await writeFile(join(folder, "large.part"), Buffer.alloc(megabytes * 1_000_000, 65));
  return folder;
}

async function untilApplied(daemon: DaemonSite): Promise<void> {
  while ((await readdir(daemon.path("inbound"))).some((name) => name.endsWith(".xml"))) await wait(50);
}

/** Waits until nothing of the round before is still being worked on. */
async function untilIdle(daemon: DaemonSite): Promise<void> {
  let before = -1;
  for (;;) {
    const now = await cpuMsOf(daemon.process);
    if (now - before <= 10) return;
    before = now;
    await wait(200);
  }
}

async function putAll(
  sites: Sites,
  site: SftpSite,
  folder: string,
): Promise<{ ms: number; cpuMs: number; doneMs: number }> {
  const { daemon } = sites;
  const isDaemon = site === daemon;
  const target = isDaemon ? site.uploads : join(site.uploads, `${serial}`);
  if (!isDaemon) await mkdir(target, { recursive: true });
  const before = isDaemon ? await cpuMsOf(daemon.process) : 0;
  await settleDisk();
  const startedAt = performance.now();
  const ms = await runSftp(site, sites.work, [`${site.put} ${folder}/* ${target}/`]);
  const cpuMs = isDaemon ? (await cpuMsOf(daemon.process)) - before : 0;
  if (isDaemon) await untilApplied(daemon);
  const doneMs = performance.now() - startedAt;
  if (isDaemon) await untilIdle(daemon);
  return { ms, cpuMs, doneMs };
}

/** Gives the blocks of large files back, not the files: those have an unfinished name and are no stop files. */
async function emptyLarge(sites: Sites, site: SftpSite): Promise<void> {
  const folder = site === sites.daemon ? sites.daemon.path("inbound") : site.uploads;
  for (const path of await readdir(folder, { recursive: true })) {
    if (path.endsWith("large.part")) await truncate(join(folder, path));
  }
  // The file system frees the blocks in the background.
  await wait(1_500);
}

interface Compared {
  readonly dropgate: Round[];
  readonly openSsh: Round[];
}

/** One turn each a round; the one that begins changes from round to round. */
async function compare(
  sites: Sites,
  rounds: number,
  load: { amount: number; makeFolder: () => Promise<string>; tidy?: (site: SftpSite) => Promise<void> },
): Promise<Compared> {
  const compared: Compared = { dropgate: [], openSsh: [] };
  for (let round = 0; round < rounds; round += 1) {
    const turns = [
      { site: sites.daemon, into: compared.dropgate },
      { site: sites.sshd, into: compared.openSsh },
    ];
    for (const { site, into } of round % 2 === 0 ? turns : turns.toReversed()) {
      const folder = await load.makeFolder();
      const { ms, cpuMs, doneMs } = await putAll(sites, site, folder);
      const { amount } = load;
      into.push({
        perSecond: amount / (ms / 1000),
        cpuMs: cpuMs / amount,
        donePerSecond: amount / (doneMs / 1000),
      });
      await load.tidy?.(site);
    }
    progress(".");
  }
  return compared;
}

function measurementOf(
  compared: Compared,
  told: Pick<Measurement, "what" | "wanted" | "note"> & { unit: string },
): Measurement {
  const { unit, ...rest } = told;
  const figure = compared.dropgate.map(({ perSecond }) => perSecond);
  const floor = compared.openSsh.map(({ perSecond }) => perSecond);
  const cpu = compared.dropgate.map(({ cpuMs }) => cpuMs).toSorted((a, b) => a - b);
  const cpuNote = `${(cpu[Math.floor(cpu.length / 2)] ?? 0).toFixed(2)} ms of CPU a file or MB`;
  return {
    suite: "sftp",
    figure: { values: figure, unit },
    floor: { values: floor, unit },
    ratios: ratiosOf(figure, floor),
    ...rest,
    note: rest.note === undefined ? cpuNote : `${rest.note}; ${cpuNote}`,
  };
}

async function measureAll(sites: Sites, options: BenchOptions): Promise<Measurement[]> {
  const { rounds, isQuick } = options;
  const count = isQuick ? 300 : 2_000;
  const megabytes = isQuick ? 50 : 500;
  const files = (suffix: string) => ({
    amount: count,
    makeFolder: () => makeFiles(sites.work, count, suffix),
  });
  // Code and caches are warm in a server that runs for months.
  await compare(sites, 2, files(""));
  const whole = await compare(sites, rounds, files(""));
  const alone = await compare(sites, rounds, files(".part"));
  const largeFolder = await makeLargeFile(sites.work, megabytes);
  const large = await compare(sites, rounds, {
    amount: megabytes,
    makeFolder: async () => largeFolder,
    tidy: (site) => emptyLarge(sites, site),
  });
  return [
    measurementOf(whole, {
      what: `${count} files of 4 KB, pipeline at work`,
      unit: "files/s",
      wanted: { of: "ratio", is: "at least", limit: 0.8 },
    }),
    {
      suite: "sftp",
      what: `${count} files of 4 KB, from the first byte until the last is applied`,
      figure: { values: whole.dropgate.map(({ donePerSecond }) => donePerSecond), unit: "files/s" },
    },
    measurementOf(alone, { what: `${count} files of 4 KB, unfinished names`, unit: "files/s" }),
    measurementOf(large, {
      what: `one file of ${megabytes} MB`,
      unit: "MB/s",
      wanted: { of: "ratio", is: "at least", limit: 0.8 },
    }),
  ];
}

export async function benchSftp(options: BenchOptions): Promise<Measurement[]> {
  const work = await newFolder("client");
  const sshd = await startSshd();
  const daemon = await startDaemon(await prepareDaemon(options.home));
  try {
    await untilServing(sshd, work);
    return await measureAll({ daemon, sshd, work }, options);
  } finally {
    await daemon.end();
    await sshd.end();
  }
}
