/** A host's way to the nodes, through the balancer: an SFTP session that is opened anew whenever it breaks, and requests. */
import { setTimeout as pause } from "node:timers/promises";
import type { Client, SFTPWrapper } from "ssh2";
import SftpClient from "ssh2-sftp-client";
import type { ClusterSite } from "./cluster-site.ts";

/** What the client does not show. */
interface RawClient {
  readonly client: Client;
  readonly sftp: SFTPWrapper;
}

const quiet = { error: () => undefined, end: () => undefined, close: () => undefined };
const againMs = 100;

/** Rejects when it takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = pause(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`no answer within ${ms} ms`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
    work.catch(() => undefined);
  }
}

export class SftpLink {
  readonly #site: ClusterSite;
  readonly #userName: string;
  #client: SftpClient | undefined;

  constructor(site: ClusterSite, userName: string) {
    this.#site = site;
    this.#userName = userName;
  }

  /** One attempt; rejects unless the close was answered with success. The session of a failed one is of no use any more. */
  async put(path: string, content: string): Promise<void> {
    try {
      await within(this.#patienceMs, this.#put(path, Buffer.from(content)));
    } catch (error) {
      this.#drop();
      throw error;
    }
  }

  /** Rejects when the file was not there, too. */
  async remove(path: string): Promise<void> {
    this.#client ??= await this.#open();
    await within(this.#patienceMs, this.#client.delete(path));
  }

  end(): void {
    this.#drop();
  }

  get #patienceMs(): number {
    return 2 * this.#site.leaseMs + 4_000;
  }

  async #put(path: string, bytes: Buffer): Promise<void> {
    this.#client ??= await this.#open();
    const { client, sftp } = this.#client as unknown as RawClient;
    await new Promise<void>((resolve, reject) => {
      const lost = () => reject(new Error("the link ended"));
      client.once("close", lost);
      const end = (error: Error | null | undefined) => {
        client.removeListener("close", lost);
        if (error === null || error === undefined) resolve();
        else reject(error);
      };
      sftp.open(path, "w", (failed, handle) => {
        if (failed) return end(failed);
        sftp.write(handle, bytes, 0, bytes.length, 0, (unwritten) => {
          if (unwritten) return end(unwritten);
          sftp.close(handle, end);
        });
      });
    });
  }

  async #open(): Promise<SftpClient> {
    const client = new SftpClient("cluster", quiet);
    try {
      await client.connect({
        ...{
          host: "127.0.0.1",
          port: this.#site.sftpPort,
          username: this.#userName,
          privateKey: this.#site.key,
        },
        ...{ readyTimeout: this.#patienceMs, keepaliveInterval: 1_000, keepaliveCountMax: 5 },
      });
    } catch (error) {
      (client as unknown as RawClient).client.destroy();
      throw error;
    }
    (client as unknown as RawClient).client.setNoDelay(true);
    return client;
  }

  #drop(): void {
    (this.#client as unknown as RawClient | undefined)?.client.destroy();
    this.#client = undefined;
  }
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  /** How often it was sent in all: whether an earlier one was done nobody knows. */
  readonly tries: number;
}

export interface Request {
  readonly path: string;
  readonly userName: string;
  readonly body?: string;
  readonly type?: string;
}

/** Whether the host cannot know if it was done: no answer, or the one of a node or balancer that says "later". */
function isToBeRepeated({ status, body }: Pick<Answer, "status" | "body">): boolean {
  return status >= 500 || status === 429 || /\b999\b/.test(body);
}

async function ask(site: ClusterSite, { path, userName, body, type }: Request) {
  const basic = Buffer.from(`${userName}:${site.password}`).toString("base64");
  const answer = await fetch(`${site.http}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...{ authorization: `Basic ${basic}`, connection: "close" },
      ...(type === undefined ? {} : { "content-type": type }),
    },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(2 * site.leaseMs + 4_000),
  });
  return { status: answer.status, body: await answer.text() };
}

/** Asks again until it is answered, however long that takes; rejects when the signal is aborted. */
export async function askUntilAnswered(
  site: ClusterSite,
  request: Request,
  end: AbortSignal,
): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    end.throwIfAborted();
    try {
      const answer = await ask(site, request);
      if (!isToBeRepeated(answer)) return { ...answer, tries };
    } catch {
      // No answer: the link broke, or nobody listens.
    }
    await pause(againMs);
  }
}
