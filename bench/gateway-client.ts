/**
 * The client of the gateway benches, a process of its own: some connections that are kept, each with one request under
 * way. It reads no more of an answer than its status and length, so that it takes less of a processor than any server.
 * Jobs come from the parent process, one at a time.
 */
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import {
  type FromClient,
  type LoadJob,
  type LoadResult,
  numberText,
  type ToClient,
} from "./support/load-job.ts";

interface Run {
  readonly job: LoadJob;
  readonly nextNumber: () => number;
  readonly answeredAt: number[];
  readonly tookMs: number[];
  requests: number;
  failed: number;
  isMeasured: boolean;
  isOver: boolean;
}

/** Aborted when the parent tells that the measured time is over. */
let stop = new AbortController();

function numbersOf({ pick }: LoadJob): () => number {
  if (pick.order === "random") return () => Math.floor(Math.random() * pick.count) * (pick.step ?? 1);
  let next = pick.from;
  return () => next++;
}

function requestText({ job, nextNumber }: Run): string {
  const number = numberText(nextNumber());
  const head =
    `${job.method} ${job.path.join(number)} HTTP/1.1\r\nhost: 127.0.0.1:${job.port}\r\n` +
    `authorization: ${job.authorization}\r\n`;
  if (job.body.length === 0) return `${head}\r\n`;
  const body = job.body.join(number);
  return `${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function count(run: Run, status: string, sentAt: number): void {
  run.requests += 1;
  if (status !== "200") run.failed += 1;
  if (!run.isMeasured) return;
  const now = performance.now();
  run.answeredAt.push(performance.timeOrigin + now);
  run.tookMs.push(now - sentAt);
}

/** Where an answer's body begins, its length and its status; undefined while the head is not complete. */
function readHead(bytes: Buffer): { at: number; length: number; status: string } | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.toString("latin1", 0, end);
  return {
    at: end + 4,
    length: Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]),
    status: head.slice(9, 12),
  };
}

/** Calls `send` when it is the connection's turn: at once, or as often as the pace of the job asks for. */
function pacemaker({ pace, connections }: LoadJob, send: () => void): () => void {
  if (pace === undefined) return send;
  const intervalMs = (1_000 * connections) / pace;
  let turnAt = performance.now() + Math.random() * intervalMs;
  return () => {
    turnAt += intervalMs;
    setTimeout(send, Math.max(0, turnAt - performance.now()));
  };
}

/** Resolves when the run is over and the last request is answered. */
function useConnection(run: Run): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(run.job.port, "127.0.0.1").setNoDelay(true);
    let [left, status, sentAt] = [0, "", 0];
    let head: Buffer = Buffer.alloc(0);
    const send = () => {
      sentAt = performance.now();
      socket.write(requestText(run));
    };
    const sendInPace = pacemaker(run.job, send);
    const answered = () => {
      count(run, status, sentAt);
      if (!run.isOver) {
        sendInPace();
        return;
      }
      resolve();
      socket.destroy();
    };
    const onHead = (chunk: Buffer) => {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      const read = readHead(head);
      if (read === undefined) return;
      if (Number.isNaN(read.length)) {
        socket.destroy(new Error("an answer without content-length"));
        return;
      }
      status = read.status;
      left = read.length - (head.length - read.at);
      head = Buffer.alloc(0);
      if (left === 0) answered();
    };
    socket.on("data", (chunk) => {
      if (left === 0) {
        onHead(chunk);
        return;
      }
      left -= chunk.length;
      if (left === 0) answered();
    });
    socket.once("connect", send).once("error", reject);
    // After the last answer this comes too late to do anything.
    socket.once("close", () => reject(new Error("the server closed a connection")));
  });
}

async function measure(run: Run): Promise<Pick<LoadResult, "perSecond" | "clientCpu">> {
  await wait(run.job.warmUpSeconds * 1_000);
  const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
  run.isMeasured = true;
  // Told to stop is not failed.
  await wait(run.job.seconds * 1_000, undefined, { signal: stop.signal }).catch(() => undefined);
  run.isMeasured = false;
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  run.isOver = true;
  return { perSecond: run.tookMs.length / seconds, clientCpu: (user + system) / 1e6 / seconds };
}

async function work(job: LoadJob): Promise<LoadResult> {
  const counts = { answeredAt: [], tookMs: [], requests: 0, failed: 0, isMeasured: false, isOver: false };
  const run: Run = { job, nextNumber: numbersOf(job), ...counts };
  const connections = Array.from({ length: job.connections }, () => useConnection(run));
  const [measured] = await Promise.all([measure(run), ...connections]);
  const { requests, failed } = run;
  return {
    ...measured,
    ...{ requests, failed },
    answeredAt: Float64Array.from(run.answeredAt),
    tookMs: Float64Array.from(run.tookMs),
  };
}

function tell(message: FromClient): void {
  process.send?.(message);
}

process.on("message", (message: ToClient) => {
  if (message === "stop") {
    stop.abort();
    return;
  }
  stop = new AbortController();
  work(message.job).then(
    (result) => tell({ result }),
    (error: unknown) => tell({ failure: String(error) }),
  );
});
