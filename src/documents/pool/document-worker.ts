/**
 * A parser thread of the document pool. It gets batches of jobs, works on them one after another and sends the results
 * back: all at once when the batch is quick, in parts when it is not. Before each job it writes the job's number into
 * shared memory, so that the pool knows which document killed or stopped it.
 *
 * Order matters: what the documents of a stop contain is stored before the result is sent, so that no row is committed
 * without its file.
 */
import { hash } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import type { DocumentContent } from "../../domain/documents/document-content.ts";
import { stepBack } from "../../lib/threads/background-thread.ts";
import { putContent } from "../../lib/files/content-store.ts";
import { type Fault, isMissing, systemCodeOf } from "../../lib/errors.ts";
import { memoryExitCode, tellLoaded } from "../../lib/threads/hosted-worker.ts";
import { type PreparedDocument, prepareInstruction } from "./prepared-document.ts";
import { hashFileOnce, readFileOnce } from "../reading/read-file-once.ts";
import { prepareStopReader, readStopDocument } from "../reading/read-stop-document.ts";
import { limitFault, type StopDocumentOutcome } from "../reading/stop-document.ts";
import { capWasmMemory, wasmMemoryBytes } from "./wasm-memory-cap.ts";
import {
  progressAt,
  type WorkerJob,
  type WorkerMessage,
  type WorkerReport,
  type WorkerResult,
  type WorkerSettings,
} from "./worker-messages.ts";

const flushAfterMs = 25;

type Unreadable = PreparedDocument & { readonly kind: "unreadable" };

/**
 * A fault that keeps contents from being stored is not one of the document: it waits, like one that cannot be read at
 * the moment.
 */
function unstorable(error: unknown): Unreadable {
  const code = systemCodeOf(error);
  if (code === undefined) throw error;
  const message = `the content of its documents cannot be stored (${code})`;
  // ENOENT would say that the file itself has gone, and ELOOP that it never will be one.
  const systemCode = isMissing(error) || code === "ELOOP" ? "EIO" : code;
  return { kind: "unreadable", systemCode, message, isOfStore: true };
}

async function store(
  contents: readonly DocumentContent[],
  documentsDir: string,
): Promise<Unreadable | undefined> {
  try {
    for (const { document, bytes } of contents)
      await putContent(documentsDir, { sha256: document.sha256, bytes });
    return undefined;
  } catch (error) {
    return unstorable(error);
  }
}

interface Known {
  readonly sha256: string;
  readonly size: number;
}

async function finish(
  { sha256, size }: Known,
  outcome: StopDocumentOutcome,
  { documentsDir }: WorkerSettings,
): Promise<PreparedDocument> {
  if (outcome.kind === "refused") return { ...outcome, sha256, size };
  const { instructions: read, ...ids } = outcome.document;
  const prepared = read.map(prepareInstruction);
  const contents = prepared.flatMap((one) => one.contents);
  if (contents.length > 0 && documentsDir !== undefined) {
    const fault = await store(contents, documentsDir);
    if (fault !== undefined) return fault;
  }
  return { kind: "read", sha256, size, ...ids, instructions: prepared.map(({ change }) => change) };
}

function bytesOf(job: WorkerJob): Buffer {
  return job.bytes === undefined ? Buffer.alloc(0) : Buffer.from(job.bytes.buffer);
}

/** What the thread is at, in memory that the pool sees. */
interface Progress {
  /** A part of a file was read. */
  readonly read: () => void;
  /** All is read; from here on the document itself takes the time. */
  readonly parsing: () => void;
}

function refuse(job: WorkerJob, fault: Fault, progress: Progress): PreparedDocument {
  const faults = [fault];
  if (job.path === undefined) {
    const bytes = bytesOf(job);
    return {
      kind: "refused",
      sha256: hash("sha256", bytes, "hex"),
      size: bytes.length,
      faults,
      isIncomplete: false,
    };
  }
  const file = hashFileOnce(job.path, progress.read);
  if (file.kind === "unreadable") return file;
  return { kind: "refused", sha256: file.sha256, size: file.size, faults, isIncomplete: false };
}

async function prepare(
  job: WorkerJob,
  settings: WorkerSettings,
  progress: Progress,
): Promise<PreparedDocument> {
  const { limits } = settings;
  if (job.refuseWith !== undefined) return refuse(job, job.refuseWith, progress);
  if (job.path === undefined) {
    progress.parsing();
    const bytes = bytesOf(job);
    const known = { sha256: hash("sha256", bytes, "hex"), size: bytes.length };
    return await finish(known, readStopDocument(bytes, limits, job.charset), settings);
  }
  const file = readFileOnce(job.path, limits.maxBytes, progress.read);
  progress.parsing();
  if (file.kind === "unreadable") return file;
  if (file.kind === "bytes") {
    const known = { sha256: file.sha256, size: file.bytes.length };
    return await finish(known, readStopDocument(file.bytes, limits), settings);
  }
  const faults = [limitFault(`it has ${file.size} bytes, more than ${limits.maxBytes}`)];
  return { kind: "refused", sha256: null, size: file.size, faults, isIncomplete: false };
}

const send = (report: WorkerReport) => parentPort?.postMessage(JSON.stringify(report));

async function work(jobs: readonly WorkerJob[], settings: WorkerSettings, shared: Int32Array) {
  const progress: Progress = {
    read: () => void Atomics.add(shared, progressAt.reads, 1),
    parsing: () => void Atomics.store(shared, progressAt.isParsing, 1),
  };
  let results: WorkerResult[] = [];
  let flushedAt = performance.now();
  for (const job of jobs) {
    Atomics.store(shared, progressAt.isParsing, 0);
    Atomics.store(shared, progressAt.jobId, job.id);
    results.push({ id: job.id, document: await prepare(job, settings, progress) });
    if (performance.now() - flushedAt < flushAfterMs) continue;
    // Quick documents must not wait for a slow one that came in the same batch.
    send({ results, isBatchDone: false, isWornOut: false });
    results = [];
    flushedAt = performance.now();
  }
  Atomics.store(shared, progressAt.jobId, 0);
  const isWornOut = wasmMemoryBytes() > settings.wornOutBytes;
  send({ results, isBatchDone: true, isWornOut });
}

function serve(settings: WorkerSettings): void {
  if (settings.stepsBack) stepBack();
  const progress = new Int32Array(settings.progress);
  capWasmMemory(settings.maxParserBytes, () => process.exit(memoryExitCode));
  prepareStopReader();
  let last = Promise.resolve();
  let now = settings;
  parentPort?.on("message", (message: WorkerMessage) => {
    if (typeof message === "object" && "limits" in message) {
      now = { ...now, limits: message.limits };
      return;
    }
    const jobs = typeof message === "string" ? (JSON.parse(message) as readonly WorkerJob[]) : message;
    const ofJobs = now;
    // One batch at a time, also while contents are being stored: the shared number names one job in hand. What rejects
    // is a fault of this program; it goes on unhandled and ends the thread.
    last = last.then(() => work(jobs, ofJobs, progress));
  });
  tellLoaded();
}

if (parentPort !== null) serve(workerData as WorkerSettings);
