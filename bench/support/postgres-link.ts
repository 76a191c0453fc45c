/**
 * The way to a server of PostgreSQL, in a thread of its own: it makes each answer late, as a server in another building
 * does, and counts what goes over it.
 */
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { listenFree } from "../../test/support/listen-free.ts";

/** What was sent since the link was made. */
export interface LinkCounts {
  /** A client has sent something after an answer: it may have waited for that. */
  readonly roundTrips: number;
  readonly statements: number;
}

interface LinkData {
  readonly port: number;
  readonly delayMs: number;
}

export interface PostgresLink {
  readonly port: number;
  counts(): Promise<LinkCounts>;
  end(): Promise<void>;
}

const counts = { roundTrips: 0, statements: 0 };
/** An execution of a prepared statement, and a text of statements. */
const executions = new Set([..."EQ"].map((letter) => letter.charCodeAt(0)));
const lengthBytes = 4;

/** Counts the messages of a client; the first one has no type. */
function messageCounter(): (part: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = 0;
  return (part) => {
    rest = rest.length === 0 ? part : Buffer.concat([rest, part]);
    while (rest.length >= typeBytes + lengthBytes) {
      const length = typeBytes + rest.readUInt32BE(typeBytes);
      if (rest.length < length) return;
      if (typeBytes === 1 && executions.has(rest[0] ?? 0)) counts.statements += 1;
      rest = rest.subarray(length);
      typeBytes = 1;
    }
  };
}

async function pauseUntil(due: number): Promise<void> {
  const left = due - performance.now();
  if (left > 0) await pause(left);
}

function carry(client: Socket, port: number, delayMs: number): void {
  const server = connect({ host: "127.0.0.1", port, noDelay: true });
  client.setNoDelay(true);
  const count = messageCounter();
  let isAnswered = true;
  let last = Promise.resolve();
  client.on("data", (part: Buffer) => {
    if (isAnswered) counts.roundTrips += 1;
    isAnswered = false;
    count(part);
    server.write(part);
  });
  server.on("data", (part: Buffer) => {
    const due = performance.now() + delayMs;
    last = last
      .then(() => pauseUntil(due))
      .then(() => {
        isAnswered = true;
        client.write(part);
      });
  });
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}

async function serve({ port, delayMs }: LinkData): Promise<void> {
  const own = await listenFree(createServer((client) => carry(client, port, delayMs)));
  parentPort?.on("message", () => parentPort?.postMessage(counts));
  parentPort?.postMessage(own);
}

if (!isMainThread) await serve(workerData as LinkData);

/** A link to a port of this machine, over which each answer takes so long. */
export async function startPostgresLink(data: LinkData): Promise<PostgresLink> {
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  const next = <Message>(): Promise<Message> =>
    new Promise((resolve, reject) => {
      worker.once("error", reject);
      worker.once("message", (message: Message) => {
        worker.off("error", reject);
        resolve(message);
      });
    });
  const port = await next<number>();
  return {
    port,
    counts() {
      const answer = next<LinkCounts>();
      worker.postMessage("counts");
      return answer;
    },
    end: async () => void (await worker.terminate()),
  };
}
