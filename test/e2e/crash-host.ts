/**
 * A host that does not give up: it sends its chains over SFTP and into folders, notes what was answered, and after each
 * death of the daemon connects again and sends once more what was not.
 */
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Client, SFTPWrapper } from "ssh2";
import SftpClient from "ssh2-sftp-client";
import { type DaemonRun, program, type Site, user } from "../support/daemon.ts";
import { runProgram } from "../support/run-program.ts";
import { receiptName } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { withDatabase } from "./crash-check.ts";
import type { Chain, Step } from "./crash-orders.ts";

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
  readonly client: SftpClient;
}

/** How the end by SIGKILL is told. */
export const killedExitCode = 137;
const linkCount = 2;
const deathNoticeMs = 5_000;
const answersReadMs = 20;

/** Thrown when what was under way can only be sent again to the next run of the daemon. */
class LinkLostError extends Error {}

export class CrashHost {
  /** By `<name> <content>`. */
  readonly sent = new Map<string, Sent>();
  readonly #site: Site;
  readonly #folders: Folders;
  #links: Link[] = [];
  #up: Promise<void>;
  #setUp: () => void = () => undefined;
  #turn = 0;

  constructor(site: Site, folders: Folders) {
    this.#site = site;
    this.#folders = folders;
    this.#up = new Promise((resolve) => {
      this.#setUp = resolve;
    });
  }

  /** Connects to the daemon that has just become ready; gives up quietly when that one dies too. */
  async connect(run: DaemonRun): Promise<void> {
    try {
      const clients = await Promise.all(Array.from({ length: linkCount }, () => this.#connected()));
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
    await waitFor(`the receipt of ${name}`, () => existsSync(path), 60_000);
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
    if (route === "breakAndPut" || route === "breakAndRestart") await this.#putHalf(step);
    await untilFree(async () => {
      if (route === "breakAndRestart") await restart(client, path, content);
      else await client.put(Buffer.from(content), path);
    });
  }

  /** As a local program does that knows what it is doing. */
  async #drop(folder: string, { name, content }: Step): Promise<void> {
    const temporary = join(folder, `.${name}.writing`);
    await writeFile(temporary, content);
    await rename(temporary, join(folder, name));
  }

  async #putAndRename(client: SftpClient, { name, content }: Step): Promise<void> {
    const path = `/inbound/${name}`;
    await client.put(Buffer.from(content), `${path}.filepart`);
    // What an attempt before this one has left under these names is to be replaced.
    await client.posixRename(`${path}.filepart`, `${path}.tmp`);
    await client.posixRename(`${path}.tmp`, path);
  }

  async #putAndRemove(client: SftpClient, path: string): Promise<void> {
    await client.put(Buffer.from("taken back"), `${path}.part`);
    await client.delete(`${path}.part`);
  }

  /** The link of its own breaks in the middle. */
  async #putHalf({ name, content }: Step): Promise<void> {
    const client = await this.#connected();
    const handle = await opened(client, `/inbound/${name}`, "w");
    const half = Buffer.from(content).subarray(0, Math.ceil(content.length / 2));
    await written(client, handle, half);
    await client.end();
  }

  async #connected(): Promise<SftpClient> {
    const quiet = { error: () => undefined, end: () => undefined, close: () => undefined };
    const client = new SftpClient("crash", quiet);
    await client.connect({
      host: "127.0.0.1",
      port: this.#site.sftpPort,
      username: user,
      privateKey: await readFile(this.#site.keyFile),
      readyTimeout: 10_000,
    });
    (client as unknown as RawClient).client.setNoDelay(true);
    // Each upload of a link adds its own.
    (client as unknown as RawClient).client.setMaxListeners(0);
    return client;
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
  for (const killPoint of ["retry.requested", ""]) {
    const row = withDatabase(site, (database) => database.prepare<[string], { id: number }>(sql).get(name));
    if (row === undefined) throw new Error(`${name} is not refused`);
    const args = ["file", "retry", String(row.id), "--config", site.configFile];
    const env = { ...process.env, DROPGATE_KILL_POINT: killPoint };
    const { exitCode, output } = await runProgram(program, args, { env });
    const wanted = killPoint === "" ? 0 : killedExitCode;
    if (exitCode !== wanted) throw new Error(`dropgate file retry ended with ${exitCode}: ${output}`);
  }
}

/** What the client does not show. */
interface RawClient {
  readonly client: Client;
  readonly sftp: SFTPWrapper;
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

function rawOf(client: SftpClient): SFTPWrapper {
  return (client as unknown as RawClient).sftp;
}

/** Settles with the answer, or rejects when the link ends before it. */
function answered<T>(
  client: SftpClient,
  ask: (done: (error: Error | null | undefined, value?: T) => void) => void,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const lost = () => reject(new LinkLostError("the link ended"));
    client.on("close", lost);
    ask((error, value) => {
      client.removeListener("close", lost);
      if (error === null || error === undefined) resolve(value);
      else reject(error);
    });
  });
}

async function opened(client: SftpClient, path: string, flags: "w" | "r+"): Promise<Buffer> {
  const handle = await answered<Buffer>(client, (done) => rawOf(client).open(path, flags, done));
  if (handle === undefined) throw new Error("an open was answered without a handle");
  return handle;
}

async function written(client: SftpClient, handle: Buffer, bytes: Buffer): Promise<void> {
  await answered(client, (done) => rawOf(client).write(handle, bytes, 0, bytes.length, 0, done));
}

async function restart(client: SftpClient, path: string, content: string): Promise<void> {
  const handle = await opened(client, path, "r+");
  await written(client, handle, Buffer.from(content));
  await answered(client, (done) => rawOf(client).close(handle, done));
}
