/** Checks the whole database for damage, in a thread of its own: statements that would meet it may be months away. */
import { join } from "node:path";
import { settledOrAborted } from "../../lib/aborted.ts";
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import { WorkerHost } from "../../lib/threads/worker-host.ts";
import { databaseFileName } from "./database.ts";

/**
 * SQLite's findings for each damaged table, a few; empty when the database is sound. `failure`: it could not be
 * checked.
 */
export type IntegrityOutcome = { readonly problems: readonly string[] } | { readonly failure: string };

/** Resolves when all tables were checked; rejects when aborted. */
export async function lookAtIntegrity(stateDir: string, signal: AbortSignal): Promise<IntegrityOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<IntegrityOutcome>();
  const file = siblingModule("./integrity-worker", import.meta.url);
  const data = join(stateDir, databaseFileName);
  const host = new WorkerHost<IntegrityOutcome>(
    { file, name: "integrity of the database", data, maxHeapMb: 64 },
    {
      message: resolve,
      ended: ({ error }) => reject(error ?? new Error("the check of the database ended without an answer")),
    },
  );
  try {
    return await settledOrAborted(promise, signal);
  } finally {
    await host.end();
  }
}
