/** Looks through the whole database for damage, in a thread of its own: statements that meet it may be months away. */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { siblingModule } from "../../lib/sibling-module.ts";
import { databaseFileName } from "./database.ts";

/** What SQLite says of each damaged table, a few; empty when the database is sound. `failure`: it could not be looked at. */
export type IntegrityOutcome = { readonly problems: readonly string[] } | { readonly failure: string };

/** Resolves when all tables were looked at; rejects when aborted. */
export function lookAtIntegrity(stateDir: string, signal: AbortSignal): Promise<IntegrityOutcome> {
  const worker = new Worker(siblingModule("./integrity-worker", import.meta.url), {
    name: "integrity of the database",
    workerData: join(stateDir, databaseFileName),
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 6 },
  });
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    worker.once("message", (outcome: IntegrityOutcome) => resolve(outcome));
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("the look at the database ended without an answer")));
    if (signal.aborted) abort();
  }).finally(() => worker.terminate()) as Promise<IntegrityOutcome>;
}
