/**
 * Files that come steadily over ten SFTP connections, at rates from quiet to all that the machine can take: how long a close
 * takes to be answered, beside OpenSSH's own server with the same files and the same durability, and how long after that
 * the receipt is there. Then a burst of 2,000: until the last receipt, and how long the file of another user waits
 * meanwhile.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sampleName, sampleStop } from "./sample-stop.ts";
import { type BenchOptions, progress } from "./support/bench-options.ts";
import { newFolder, settleDisk } from "./support/folders.ts";
import { type Measurement, medianOf, quantileOf, ratiosOf } from "./support/measurement.ts";
import { Receipts } from "./support/receipts.ts";
import { runProgram } from "./support/run-program.ts";
import { untilServing } from "./support/sftp-client.ts";
import { connectSftp, type SftpUploader } from "./support/sftp-uploader.ts";
import {
  companyCode,
  cpuMsOf,
  type DaemonSite,
  prepareDaemon,
  type SftpSite,
  startDaemon,
  startSshd,
} from "./support/sites.ts";

const rates = [20, 80, 200, 800] as const;
const connections = 10;
const otherUser = "other";

/** From the answered close to the receipt, in milliseconds; below. */
const wanted: Readonly<Record<number, { readonly median: number; readonly p99: number }>> = {
  20: { median: 6, p99: 15 },
  80: { median: 50, p99: 300 },
  200: { median: 50, p99: 300 },
  800: { median: 50, p99: 300 },
};

let serial = 0;

/** Files are named by the numbers after this one from now on: those up to it may have been sent to a state that was kept. */
export function nameFilesAfter(index: number): void {
  serial = index;
}

function nextFile(): { readonly name: string; readonly bytes: Buffer } {
  serial += 1;
  const { stopNbr, name } = sampleName(serial);
  return { name, bytes: Buffer.from(sampleStop(stopNbr)) };
}

/** A server that takes the files. */
export interface Server {
  readonly site: SftpSite;
  readonly uploaders: readonly SftpUploader[];
  /** Of the daemon. */
  readonly receipts?: Receipts;
}

interface Sites {
  readonly daemon: Server & { readonly site: DaemonSite; readonly receipts: Receipts };
  readonly sshd: Server;
  /** A session of another user of the company. */
  readonly other: SftpUploader;
}

/** Milliseconds of one file. */
interface Timing {
  readonly answerMs: number;
  readonly receiptMs: number;
}

async function upload(server: Server, uploader: SftpUploader): Promise<Timing> {
  const { name, bytes } = nextFile();
  const begunAt = performance.now();
  await uploader.put(`${server.site.uploads}/${name}`, bytes);
  const closedAt = performance.now();
  const receiptAt = (await server.receipts?.of(name)) ?? closedAt;
  // The receipt may be there before the answer has come this way.
  return { answerMs: closedAt - begunAt, receiptMs: Math.max(0, receiptAt - closedAt) };
}

/** Files leave at fixed times, each over the next connection, after the one before it there. */
export async function sendSteadily(server: Server, rate: number, seconds: number): Promise<Timing[]> {
  const sent: Promise<Timing>[] = [];
  const free: Promise<unknown>[] = server.uploaders.map(() => Promise.resolve());
  const startedAt = performance.now();
  for (let index = 0; index < seconds * rate; index += 1) {
    const dueInMs = startedAt + (index * 1000) / rate - performance.now();
    if (dueInMs > 0) await wait(dueInMs);
    const lane = index % server.uploaders.length;
    const uploader = server.uploaders[lane];
    if (uploader === undefined) continue;
    const answered = Promise.withResolvers<void>();
    const before = free[lane];
    free[lane] = answered.promise;
    const observed: SftpUploader = {
      ...uploader,
      put: (path, bytes) => uploader.put(path, bytes).finally(answered.resolve),
    };
    sent.push(Promise.resolve(before).then(() => upload(server, observed)));
  }
  return await Promise.all(sent);
}

/** As quickly as the server answers; gives the milliseconds until everything is done, receipts included. */
export async function sendBurst(server: Server, count: number): Promise<number> {
  const startedAt = performance.now();
  let left = count;
  const receipts: Promise<number>[] = [];
  await Promise.all(
    server.uploaders.map(async (uploader) => {
      while (left > 0) {
        left -= 1;
        const { name, bytes } = nextFile();
        await uploader.put(`${server.site.uploads}/${name}`, bytes);
        const receipt = server.receipts?.of(name);
        if (receipt !== undefined) receipts.push(receipt);
      }
    }),
  );
  const seen = await Promise.all(receipts);
  return seen.reduce((latest, at) => Math.max(latest, at), performance.now()) - startedAt;
}

/** Files of the other user, one after the other with a pause, while `meanwhile` lasts. */
async function sendBeside(sites: Sites, meanwhile: Promise<unknown>): Promise<number[]> {
  const server = { ...sites.daemon, uploaders: [sites.other] };
  const took: number[] = [];
  let isOver = false;
  const over = meanwhile.finally(() => {
    isOver = true;
  });
  do {
    took.push((await upload(server, sites.other)).receiptMs);
    await wait(50);
  } while (!isOver);
  await over;
  return took;
}

interface Compared<T> {
  readonly dropgate: T[];
  readonly openSsh: T[];
}

/** One turn each a round; the one that begins changes from round to round. */
async function compare<T>(
  sites: Sites,
  rounds: number,
  turn: (server: Server) => Promise<T>,
): Promise<Compared<T>> {
  const compared: Compared<T> = { dropgate: [], openSsh: [] };
  for (let round = 0; round < rounds; round += 1) {
    const turns = [
      { server: sites.daemon, into: compared.dropgate },
      { server: sites.sshd, into: compared.openSsh },
    ];
    for (const { server, into } of round % 2 === 0 ? turns : turns.toReversed()) {
      await settleDisk();
      into.push(await turn(server));
    }
    progress(".");
  }
  return compared;
}

function steadyMeasurements(rate: number, compared: Compared<Timing[]>): Measurement[] {
  const answers = (side: readonly Timing[][]) =>
    side.map((all) => medianOf(all.map(({ answerMs }) => answerMs)));
  const [figure, floor] = [answers(compared.dropgate), answers(compared.openSsh)];
  const receipts = (of: (values: readonly number[]) => number) =>
    compared.dropgate.map((all) => of(all.map(({ receiptMs }) => receiptMs)));
  const row = (what: string, values: readonly number[], limit: number | undefined): Measurement => ({
    suite: "steady",
    what: `${rate} files a second, ${what}`,
    figure: { values, unit: "ms" },
    ...(limit === undefined ? {} : { wanted: { of: "figure", is: "below", limit } }),
  });
  return [
    {
      ...row("open to answered close, median", figure, undefined),
      floor: { values: floor, unit: "ms" },
      ratios: ratiosOf(figure, floor),
    },
    row("close to receipt, median", receipts(medianOf), wanted[rate]?.median),
    row(
      "close to receipt, 99th percentile",
      receipts((values) => quantileOf(values, 0.99)),
      wanted[rate]?.p99,
    ),
  ];
}

async function measureBurst(sites: Sites, { rounds, isQuick }: BenchOptions): Promise<Measurement[]> {
  const count = isQuick ? 300 : 2_000;
  const burst = await compare(sites, rounds, (server) => sendBurst(server, count));
  const beside: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await settleDisk();
    beside.push(medianOf(await sendBeside(sites, sendBurst(sites.daemon, count))));
  }
  return [
    {
      suite: "steady",
      what: `burst of ${count}, until the last receipt`,
      figure: { values: burst.dropgate, unit: "ms" },
      floor: { values: burst.openSsh, unit: "ms" },
      ratios: ratiosOf(burst.dropgate, burst.openSsh),
      note: "OpenSSH: until the last answer",
    },
    {
      suite: "steady",
      what: "close to receipt of another user meanwhile, median",
      figure: { values: beside, unit: "ms" },
    },
  ];
}

async function measureAll(sites: Sites, options: BenchOptions): Promise<Measurement[]> {
  const seconds = options.isQuick ? 2 : 10;
  // Code and caches are warm in a server that runs for months.
  await compare(sites, 2, (server) => sendBurst(server, 300));
  const measurements: Measurement[] = [];
  for (const rate of rates) {
    const processorMs: number[] = [];
    const compared = await compare(sites, options.rounds, async (server) => {
      if (server !== sites.daemon) return await sendSteadily(server, rate, seconds);
      const before = await cpuMsOf(sites.daemon.site.process);
      const timings = await sendSteadily(server, rate, seconds);
      processorMs.push(((await cpuMsOf(sites.daemon.site.process)) - before) / timings.length);
      return timings;
    });
    const what = `${rate} files a second, processor time a file`;
    measurements.push(...steadyMeasurements(rate, compared), {
      suite: "steady",
      what,
      figure: { values: processorMs, unit: "ms" },
    });
  }
  return [...measurements, ...(await measureBurst(sites, options))];
}

/** Ten connections. */
export async function connectAll(site: SftpSite): Promise<SftpUploader[]> {
  return await Promise.all(Array.from({ length: connections }, () => connectSftp(site)));
}

/** The other user of the company, with the key of the first one. */
async function addOtherUser(daemon: DaemonSite, home: string): Promise<void> {
  const config = ["--config", join(daemon.folder, "dropgate.yaml")];
  const passwordFile = join(daemon.folder, "other-password");
  await writeFile(passwordFile, `${daemon.password}\n`, { mode: 0o600 });
  const account = ["--company", companyCode, "--role", "DI_Integration", "--password-file", passwordFile];
  const program = join(home, "bin/dropgate");
  await runProgram(program, ["user", "add", otherUser, ...account, ...config]);
  await runProgram(program, ["user", "add-key", otherUser, "--key", `${daemon.keyFile}.pub`, ...config]);
}

export async function benchSteady(options: BenchOptions): Promise<Measurement[]> {
  const sshd = await startSshd();
  const daemon = await startDaemon(await prepareDaemon(options.home));
  const receipts = new Receipts(daemon.path("receipts"));
  try {
    await mkdir(sshd.uploads, { recursive: true });
    await untilServing(sshd, await newFolder("client"));
    await addOtherUser(daemon, options.home);
    const sites: Sites = {
      daemon: { site: daemon, uploaders: await connectAll(daemon), receipts },
      sshd: { site: sshd, uploaders: await connectAll(sshd) },
      other: await connectSftp({ ...daemon, login: otherUser }),
    };
    try {
      return await measureAll(sites, options);
    } finally {
      for (const uploader of [...sites.daemon.uploaders, ...sites.sshd.uploaders, sites.other])
        uploader.end();
    }
  } finally {
    receipts.close();
    await daemon.end();
    await sshd.end();
  }
}
