/**
 * Uploads over FTP beside vsftpd: the same client, the same files, the same durability, turn by turn.
 *
 * vsftpd syncs nothing. A host that wants to know its file safe there has to see to it, so the client, which is on the same
 * machine, syncs each file and its folder when the upload is answered, before the next one: what dropgate's answer says
 * without that. What vsftpd does without any sync is told beside it.
 */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "basic-ftp";
import { sampleName, sampleStop } from "./sample-stop.ts";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { settleDisk } from "./support/folders.ts";
import { type Measurement, medianOf, ratiosOf } from "./support/measurement.ts";
import { type DaemonSite, prepareDaemon, startDaemon, userName } from "./support/sites.ts";
import { hasVsftpd, makeTlsFiles, startVsftpd, type VsftpdSite } from "./support/vsftpd.ts";

interface Target {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly folder: string;
  /** Called when an upload was answered. */
  readonly answered: (name: string) => void;
}

interface Sites {
  readonly daemon: DaemonSite;
  readonly vsftpd: VsftpdSite;
}

interface Round {
  readonly ours: number;
  readonly done: number;
  readonly floor: number;
  readonly unsynced: number;
}

let serial = 0;

/** Files that no round before has sent. */
function newFiles(count: number): { readonly name: string; readonly content: Buffer }[] {
  serial += 1;
  return Array.from({ length: count }, (_, index) => {
    const { stopNbr, name } = sampleName(serial * count + index);
    return { name, content: Buffer.from(sampleStop(stopNbr)) };
  });
}

/** Puts all of them in one session; gives the milliseconds from the first command to the last answer. */
async function putAll(
  target: Target,
  files: ReturnType<typeof newFiles>,
  isSecure: boolean,
): Promise<number> {
  const client = new Client(60_000);
  const { port, user, password, folder } = target;
  const secureOptions = { rejectUnauthorized: false };
  await client.access({ host: "127.0.0.1", port, user, password, secure: isSecure, secureOptions });
  await client.cd(folder);
  await settleDisk();
  const startedAt = performance.now();
  for (const { name, content } of files) {
    await client.uploadFrom(Readable.from([content]), name);
    target.answered(name);
  }
  const ms = performance.now() - startedAt;
  client.close();
  return ms;
}

function sync(path: string): void {
  const fd = openSync(path, "r");
  fsyncSync(fd);
  closeSync(fd);
}

async function vsftpdTarget({ port, uploads }: VsftpdSite, isSynced: boolean): Promise<Target> {
  const name = `${serial}-${isSynced ? "synced" : "unsynced"}`;
  const folder = join(uploads, name);
  await mkdir(folder, { mode: 0o777 });
  const answered = (file: string): void => {
    sync(join(folder, file));
    sync(folder);
  };
  const shared = { port, user: "anonymous", password: "x", folder: `uploads/${name}` };
  return { ...shared, answered: isSynced ? answered : () => undefined };
}

async function untilApplied(daemon: DaemonSite): Promise<void> {
  while ((await readdir(daemon.path("inbound"))).some((name) => name.endsWith(".xml"))) await wait(50);
}

/** One turn of each; the one that begins changes from round to round. */
async function takeRound({ daemon, vsftpd }: Sites, count: number, isSecure: boolean): Promise<Round> {
  const rate = (ms: number): number => count / (ms / 1000);
  const figures = { ours: 0, done: 0, floor: 0, unsynced: 0 };
  const ours = async (): Promise<void> => {
    const files = newFiles(count);
    const shared = { port: daemon.ftpPort, user: userName, password: daemon.password, folder: "inbound" };
    const startedAt = performance.now();
    figures.ours = rate(await putAll({ ...shared, answered: () => undefined }, files, isSecure));
    await untilApplied(daemon);
    figures.done = rate(performance.now() - startedAt);
  };
  const theirs = async (isSynced: boolean): Promise<number> => {
    const files = newFiles(count);
    return rate(await putAll(await vsftpdTarget(vsftpd, isSynced), files, isSecure));
  };
  const turns = [
    ours,
    async () => {
      figures.floor = await theirs(true);
    },
    async () => {
      figures.unsynced = await theirs(false);
    },
  ];
  for (const turn of serial % 2 === 0 ? turns : turns.toReversed()) await turn();
  progress(".");
  return figures;
}

async function compare(sites: Sites, options: BenchOptions, isSecure: boolean): Promise<Measurement[]> {
  const count = options.isQuick ? 200 : 2_000;
  const rounds: Round[] = [];
  // Code and caches are warm in a server that runs for months.
  await takeRound(sites, Math.min(count, 500), isSecure);
  for (let round = 0; round < options.rounds; round += 1)
    rounds.push(await takeRound(sites, count, isSecure));
  const of = (name: keyof Round): number[] => rounds.map((round) => round[name]);
  const what = `${count} files of 4 KB over ${isSecure ? "FTPS" : "FTP"}`;
  const unit = "files/s";
  return [
    {
      suite: "ftp",
      what: `${what}, pipeline at work`,
      figure: { values: of("ours"), unit },
      floor: { values: of("floor"), unit },
      ratios: ratiosOf(of("ours"), of("floor")),
      wanted: { of: "ratio", is: "at least", limit: 0.7 },
      note: `vsftpd without any sync: ${medianOf(of("unsynced")).toFixed(0)} files/s`,
    },
    {
      suite: "ftp",
      what: `${what}, from the first byte until the last is applied`,
      figure: { values: of("done"), unit },
    },
  ];
}

export async function benchFtp(options: BenchOptions): Promise<Measurement[]> {
  if (!hasVsftpd()) {
    progress("left out: /usr/sbin/vsftpd is not installed ");
    return [];
  }
  const tls = await makeTlsFiles();
  const ftp = { enabled: true, port: 0, allowPlain: true, tls };
  const vsftpd = await startVsftpd(tls);
  const daemon = await startDaemon(await prepareDaemon(options.home, { ftp }));
  try {
    const sites = { daemon, vsftpd };
    return [...(await compare(sites, options, true)), ...(await compare(sites, options, false))];
  } finally {
    await daemon.end();
    await vsftpd.end();
  }
}
