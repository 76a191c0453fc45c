/**
 * The thread that checks the database for damage, table by table, with a read-only connection of its own. Between two
 * tables it rests, so that it takes a fifth of a processor at most and never holds a snapshot for long.
 */
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { stepBack } from "../../lib/threads/background-thread.ts";
import { messageOf } from "../../lib/errors.ts";
import { tellLoaded } from "../../lib/threads/hosted-worker.ts";
import { lookForDamage, openForReading } from "./sqlite-dialect.ts";

const restShare = 4;
const longestRestMs = 10_000;

async function run(path: string): Promise<readonly string[]> {
  const database = openForReading(path);
  try {
    const found: string[] = [];
    for (const looked of lookForDamage(database)) {
      found.push(...looked.problems);
      await wait(Math.min(looked.tookMs * restShare, longestRestMs));
    }
    return found;
  } finally {
    database.close();
  }
}

stepBack();
tellLoaded();
run(String(workerData)).then(
  (problems) => parentPort?.postMessage({ problems }),
  (error: unknown) => parentPort?.postMessage({ failure: messageOf(error) }),
);
