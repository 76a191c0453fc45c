/**
 * A host that does not give up: it sends its chains over SFTP (or FTP) and into folders, notes what was answered, and after each
 * death of the daemon connects again and sends once more what was not.
 */
import { existsSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type DaemonRun, program, type Site } from "../support/daemon.ts";
import { runProgram } from "../support/run-program.ts";
import { receiptName } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { type HostClient, LinkLostError, type OpenHostClient, openSftpHostClient } from "./crash-client.ts";
import type { Chain, Step } from "./crash-orders.ts";
import { rowsOf } from "../support/site-database.ts";

/** How often a content was sent under a name, and how often that was answered. */
export interface Sent {
  readonly step: Step;
  tries: number;
  answers: number;
}

export interface Folders {
  readonly folder: string;
  readonly otherDisk: string;
}

interface Link {
  readonly run: DaemonRun;
  readonly client: HostClient;
}

/** How the end by SIGKILL is told. */
export const killedExitCode = 137;
const linkCount = 2;
const deathNoticeMs = 5_000;
const answersReadMs = 20;

export class CrashHost {
  /** By `<name> <content>`. */
  readonly sent = new Map<string, Sent>();
  readonly #site: Site;
  readonly #folders: Folders;
  readonly #open: OpenHostClient;
  #links: Link[] = [];
  #up: Promise<void>;
  #setUp: () => void = () => undefined;
  #turn = 0;

  constructor(site: Site, folders: Folders, open: OpenHostClient = openSftpHostClient) {
    this.#site = site;
    this.#folders = folders;
    this.#open = open;
    this.#up = new Promise((resolve) => {
      this.#setUp = resolve;
    });
  }

  /** Connects to the daemon that has just become ready; gives up quietly when that one dies too. */
  async connect(run: DaemonRun): Promise<void> {
    try {
      const clients = await Promise.all(Array.from({ length: linkCount }, () => this.#open(this.#site)));
      this.#links = clients.map((client) => ({ run, client }));
      this.#setUp();
    } catch (error) {
      await untilDead(run, error);
    }
  }

  /** The daemon is gone: what is sent from here on waits for the next connection. */
  disconnect(): void {
    // Down already: whoever waits, waits for the promise that is there.
    if (this.#links.length === 0) return;
    this.#links = [];
    this.#up = new Promise((resolve) => {
      this.#setUp = resolve;
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#links.map(({ client }) => client.end().catch(() => undefined)));
    this.#links = [];
  }

  /** Sends all chains side by side; resolves when every step was answered. */
  async send(chains: readonly Chain[]): Promise<void> {
    await Promise.all(chains.map((chain) => this.#sendChain(chain)));
  }

  async #sendChain({ steps }: Chain): Promise<void> {
    for (const [index, step] of steps.entries()) {
      const before = steps[index - 1];
      if (step.afterReceipt === true && before !== undefined) await this.#untilReceipt(before.name);
      if (step.route === "retry") await retryFile(this.#site, step.name);
      else await this.#sendUntilAnswered(step);
    }
  }

  async #untilReceipt(name: string): Promise<void> {
    const path = this.#site.path("receipts", receiptName(name));
    await waitFor(`the receipt of ${name}`, () => existsSync(path));
  }

  async #sendUntilAnswered(step: Step): Promise<void> {
    const key = `${step.name} ${step.content}`;
    const sent = this.sent.get(key) ?? { step, tries: 0, answers: 0 };
    this.sent.set(key, sent);
    for (;;) {
      const link = await this.#link();
      sent.tries += 1;
      try {
        await Promise.race([this.#deliver(link, step), lossOf(link.run)]);
        sent.answers += 1;
        return;
      } catch (error) {
        await untilDead(link.run, error);
        if (this.#links.includes(link)) this.disconnect();
      }
    }
  }

  async #link(): Promise<Link> {
    for (;;) {
      await this.#up;
      this.#turn += 1;
      const link = this.#links[this.#turn % linkCount];
      if (link !== undefined) return link;
    }
  }

  async #deliver({ client }: Link, step: Step): Promise<void> {
    const { route, name, content } = step;
    const path = `/inbound/${name}`;
    if (route === "inbound") return await this.#drop(this.#site.path("inbound"), step);
    if (route === "folder") return await this.#drop(this.#folders.folder, step);
    if (route === "otherDisk") return await this.#drop(this.#folders.otherDisk, step);
    if (route === "rename") return await this.#putAndRename(client, step);
    if (route === "removeAndPut") await this.#putAndRemove(client, path);
    if (route === "breakAndPut" || route === "breakAndRestart") await this.#putHalf(path, content);
    await untilFree(async () => {
      if (route === "breakAndRestart") await client.goOn(path, content);
      else await client.put(path, content);
    });
  }

  /** As a local program does that knows what it is doing. */
  async #drop(folder: string, { name, content }: Step): Promise<void> {
    const temporary = join(folder, `.${name}.writing`);
    await writeFile(temporary, content);
    await rename(temporary, join(folder, name));
  }

  async #putAndRename(client: HostClient, { name, content }: Step): Promise<void> {
    const path = `/inbound/${name}`;
    await client.put(`${path}.filepart`, content);
    await client.rename(`${path}.filepart`, `${path}.tmp`);
    await client.rename(`${path}.tmp`, path);
  }

  async #putAndRemove(client: HostClient, path: string): Promise<void> {
    await client.put(`${path}.part`, "taken back");
    await client.remove(`${path}.part`);
  }

  /** The link of its own breaks in the middle. */
  async #putHalf(path: string, content: string): Promise<void> {
    const client = await this.#open(this.#site);
    await client.breakOff(path, content);
  }
}

/** Rejects once the daemon is dead and what it had answered has been read. */
async function lossOf(run: DaemonRun): Promise<never> {
  await run.exit;
  await pause(answersReadMs);
  throw new LinkLostError("the daemon died");
}

/** A failure counts as the daemon's death only when it does die; an answer that says no is a fault. */
async function untilDead(run: DaemonRun, error: unknown): Promise<void> {
  const timeout = AbortSignal.timeout(deathNoticeMs);
  const late = new Promise<"alive">((resolve) => {
    timeout.addEventListener("abort", () => resolve("alive"), { once: true });
  });
  if ((await Promise.race([run.exit, late])) === "alive") throw error;
}

/** The administrator does not give up either; the first attempt dies before it is committed. */
async function retryFile(site: Site, name: string): Promise<void> {
  const sql = "select id from files where name = ? and state = 'refused'";
  for (const step of ["unit@file-retry.request", ""]) {
    const [row] = rowsOf<{ id: number }>(site, sql, name);
    if (row === undefined) throw new Error(`${name} is not refused`);
    const args = ["file", "retry", String(row.id), "--config", site.configFile];
    const env = { ...process.env, DROPGATE_KILL_POINT: step };
    const { exitCode, output } = await runProgram(program, args, { env });
    const wanted = step === "" ? 0 : killedExitCode;
    if (exitCode !== wanted) throw new Error(`dropgate file retry ended with ${exitCode}: ${output}`);
  }
}

/** The daemon may not have noticed yet that the link of the broken upload is gone. */
async function untilFree(upload: () => Promise<void>): Promise<void> {
  await waitFor("the end of the broken upload", async () => {
    try {
      await upload();
      return true;
    } catch (error) {
      if (String(error).includes("being uploaded by another")) return false;
      throw error;
    }
  });
}
