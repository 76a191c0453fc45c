/**
 * A parser thread of the document pool. It gets batches of jobs, works on them one after another and sends the results
 * back: all at once when the batch is quick, in parts when it is not. Before each job it writes the job's number into
 * shared memory, so that the pool knows which document killed or stopped it.
 */
import { hash } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import type { Fault } from "../lib/errors.ts";
import { type PreparedDocument, prepareInstruction } from "./prepared-document.ts";
import { readFileOnce } from "./read-file-once.ts";
import { prepareStopReader, readStopDocument } from "./read-stop-document.ts";
import { limitFault, type StopDocumentLimits, type StopDocumentOutcome } from "./stop-document.ts";
import { capWasmMemory, wasmMemoryBytes } from "./wasm-memory-cap.ts";
import {
  type WorkerJob,
  type WorkerMessage,
  type WorkerReport,
  type WorkerResult,
  type WorkerSettings,
  workerExit,
} from "./worker-messages.ts";

const flushAfterMs = 25;

function finish(sha256: string, size: number, outcome: StopDocumentOutcome): PreparedDocument {
  if (outcome.kind === "refused") return { ...outcome, sha256, size };
  const { instructions, ...ids } = outcome.document;
  return { kind: "read", sha256, size, ...ids, instructions: instructions.map(prepareInstruction) };
}

function bytesOf(job: WorkerJob): Buffer {
  return job.bytes === undefined ? Buffer.alloc(0) : Buffer.from(job.bytes.buffer);
}

function refuse(job: WorkerJob, fault: Fault): PreparedDocument {
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
  const file = readFileOnce(job.path, -1); // any file is over this limit: hashed and not kept
  if (file.kind === "unreadable") return file;
  const size = file.kind === "bytes" ? file.bytes.length : file.size;
  return { kind: "refused", sha256: file.sha256, size, faults, isIncomplete: false };
}

function prepare(job: WorkerJob, limits: StopDocumentLimits): PreparedDocument {
  if (job.refuseWith !== undefined) return refuse(job, job.refuseWith);
  if (job.path === undefined) {
    const bytes = bytesOf(job);
    return finish(hash("sha256", bytes, "hex"), bytes.length, readStopDocument(bytes, limits));
  }
  const file = readFileOnce(job.path, limits.maxBytes);
  if (file.kind === "unreadable") return file;
  if (file.kind === "bytes")
    return finish(file.sha256, file.bytes.length, readStopDocument(file.bytes, limits));
  const faults = [limitFault(`it has ${file.size} bytes, more than ${limits.maxBytes}`)];
  return { kind: "refused", sha256: file.sha256, size: file.size, faults, isIncomplete: false };
}

function serve(settings: WorkerSettings): void {
  const progress = new Int32Array(settings.progress);
  const send = (report: WorkerReport) => parentPort?.postMessage(JSON.stringify(report));
  capWasmMemory(settings.maxParserBytes, () => process.exit(workerExit.memory));
  prepareStopReader();
  parentPort?.on("message", (message: WorkerMessage) => {
    const jobs = typeof message === "string" ? (JSON.parse(message) as readonly WorkerJob[]) : message;
    let results: WorkerResult[] = [];
    let flushedAt = performance.now();
    for (const job of jobs) {
      Atomics.store(progress, 0, job.id);
      results.push({ id: job.id, document: prepare(job, settings.limits) });
      if (performance.now() - flushedAt < flushAfterMs) continue;
      // Quick documents must not wait for a slow one that came in the same batch.
      send({ kind: "results", results, isBatchDone: false, isWornOut: false });
      results = [];
      flushedAt = performance.now();
    }
    Atomics.store(progress, 0, 0);
    send({
      kind: "results",
      results,
      isBatchDone: true,
      isWornOut: wasmMemoryBytes() > settings.wornOutBytes,
    });
  });
  // In a turn of its own: a thread may be ended from here on, and must not be while its modules are being evaluated.
  setImmediate(send, { kind: "ready" });
}

if (parentPort !== null) serve(workerData as WorkerSettings);
