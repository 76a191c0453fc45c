/**
 * A well-behaved host in a process of its own, so that nothing slows it down but the daemon: stop files over SFTP at a steady
 * rate, each with the time from when it was due and from its answered close until its receipt. What it sends is late by the
 * clock when the daemon is late, so that a stall counts for each file that was due meanwhile.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { sampleName, sampleStop } from "../../bench/sample-stop.ts";
import { Receipts } from "../../bench/support/receipts.ts";
import { connectSftp, type SftpUploader } from "../../bench/support/sftp-uploader.ts";

export interface SteadyHostOptions {
  readonly port: number;
  readonly keyFile: string;
  readonly login: string;
  readonly receipts: string;
  readonly ratePerSecond: number;
  /** Number of the first file; no two have the same. */
  readonly firstSerial: number;
}

/** Milliseconds of one file. */
export interface FileTiming {
  readonly closeToReceiptMs: number;
  readonly dueToReceiptMs: number;
}

export interface SteadyReport {
  readonly timings: readonly FileTiming[];
  /** Files that failed or got no receipt, in words. */
  readonly faults: readonly string[];
}

const connections = 10;

/** What this host does, in its own process. */
class SteadyHost {
  readonly #options: SteadyHostOptions;
  readonly #receipts: Receipts;
  readonly #uploaders: readonly SftpUploader[];
  readonly #free: Promise<unknown>[];
  #sent: Promise<FileTiming | string>[] = [];
  #serial: number;

  constructor(options: SteadyHostOptions, uploaders: readonly SftpUploader[]) {
    this.#options = options;
    this.#serial = options.firstSerial;
    this.#receipts = new Receipts(options.receipts);
    this.#uploaders = uploaders;
    this.#free = uploaders.map(() => Promise.resolve());
  }

  async sendForEver(): Promise<never> {
    const startedAt = performance.now();
    for (let index = 0; ; index += 1) {
      const dueAt = startedAt + (index * 1_000) / this.#options.ratePerSecond;
      const dueInMs = dueAt - performance.now();
      if (dueInMs > 0) await wait(dueInMs);
      this.#sendOver(index % this.#uploaders.length, dueAt);
    }
  }

  /** Of the files that were due since the last report, when all of them have their receipts. */
  async report(): Promise<SteadyReport> {
    const outcomes = await Promise.all(this.#sent.splice(0));
    return {
      timings: outcomes.filter((one) => typeof one !== "string"),
      faults: outcomes.filter((one) => typeof one === "string"),
    };
  }

  /** Each file over the next connection, after the one before it there. */
  #sendOver(lane: number, dueAt: number): void {
    const uploader = this.#uploaders[lane];
    if (uploader === undefined) throw new Error(`no connection ${lane}`);
    const { stopNbr, name } = sampleName(this.#serial);
    this.#serial += 1;
    const closed = Promise.resolve(this.#free[lane]).then(async () => {
      await uploader.put(`/inbound/${name}`, Buffer.from(sampleStop(stopNbr)));
      return performance.now();
    });
    this.#free[lane] = closed.catch(() => undefined);
    this.#sent.push(this.#timingOf(name, closed, dueAt).catch((error: unknown) => `${name}: ${error}`));
  }

  async #timingOf(name: string, closed: Promise<number>, dueAt: number): Promise<FileTiming> {
    const closedAt = await closed;
    const receiptAt = await this.#receipts.of(name);
    // The receipt may be there before the answer has come this way.
    return {
      closeToReceiptMs: Math.max(0, receiptAt - closedAt),
      dueToReceiptMs: Math.max(receiptAt, closedAt) - dueAt,
    };
  }
}

async function serve(options: SteadyHostOptions): Promise<void> {
  const site = { name: "dropgate", uploads: "/inbound", put: "put" as const, ...options };
  const uploaders = await Promise.all(Array.from({ length: connections }, () => connectSftp(site)));
  const host = new SteadyHost(options, uploaders);
  process.on("message", () => void host.report().then((report) => process.send?.(report)));
  process.on("disconnect", () => process.exit(0));
  process.send?.("ready");
  await host.sendForEver();
}

/** The host as the program that measures sees it. */
export class SteadyHostProcess {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when it is signed in and has begun to send. */
  static async start(options: SteadyHostOptions): Promise<SteadyHostProcess> {
    const child = fork(import.meta.filename, [JSON.stringify(options)]);
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`the steady host ended with ${code}`);
    });
    await Promise.race([once(child, "message"), ended]);
    ended.catch(() => undefined);
    return new SteadyHostProcess(child);
  }

  /** Of the files that were due since the last report. */
  async report(): Promise<SteadyReport> {
    const answered = once(this.#child, "message");
    this.#child.send("report");
    const [report] = (await answered) as [SteadyReport];
    return report;
  }

  end(): void {
    this.#child.disconnect();
  }
}

if (process.argv[1] === import.meta.filename)
  await serve(JSON.parse(process.argv[2] ?? "{}") as SteadyHostOptions);
