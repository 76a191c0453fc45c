/**
 * One measurement in a process of its own: N waiting files through the whole pipeline with full durability, after so many
 * others that warm it up.
 * Usage: backlog-pipeline.ts COUNT DIRECTORY GROUP WARMUP; prints one line of JSON.
 */
import { ledgerNumbers } from "../test/support/ledger-numbers.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createDocumentPool } from "../src/documents/pool/document-pool.ts";
import type { Arrival } from "../src/inbound/places/inbox.ts";
import { createLocations } from "../src/inbound/places/locations.ts";
import { Pipeline } from "../src/inbound/pipeline.ts";
import { systemClock } from "../src/lib/clock.ts";
import { keepThreadHeapsSmall } from "../src/lib/threads/thread-heaps.ts";
import { createLogger } from "../src/lib/logs/log.ts";
import { insertCompany } from "../src/store/accounts/companies.ts";
import { openStore } from "../src/store/database/database.ts";
import { sampleName, sampleStop } from "./sample-stop.ts";

const count = Number(process.argv[2]);
const directory = process.argv[3] ?? "";
const groupSize = Number(process.argv[4]);
const warmUp = Number(process.argv[5]);
const signal = new AbortController().signal;
const log = createLogger({ level: "error" });

mkdirSync(directory, { recursive: true });
const store = await openStore(directory);
const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 0 }));
const locations = createLocations(directory);
const inbound = locations.inboundDirectory(company.code);
mkdirSync(inbound, { recursive: true });
const arrivals: Arrival[] = [];
for (let index = 0; index < warmUp + count; index += 1) {
  const { stopNbr, name } = sampleName(index);
  const path = join(inbound, name);
  const text = sampleStop(stopNbr);
  writeFileSync(path, text);
  arrivals.push({ companyId: company.id, name, path, channel: "sftp", userName: "bench", size: text.length });
}
// As the daemon does before it makes its threads.
keepThreadHeapsSmall();
const documents = createDocumentPool({ log });
await documents.start(signal);
const pipeline = new Pipeline({
  store,
  documents,
  locations,
  flushUploads: () => undefined,
  ledgerNumbers,
  settings: () => ({
    groupSize,
    settleMs: 2_000,
    incompleteGraceMs: 600_000,
    giveUpAfterMs: 3_600_000,
    maxFileBytes: 50 * 2 ** 20,
    storePauseMs: 1_000,
    rulesFor: () => ({ names: "strict", lateFiles: "refuse" }),
  }),
  companyCodeOf: async () => company.code,
  clock: systemClock,
  log,
});
await pipeline.start(signal);

/** Resolves when all of them are filed. */
async function workOff(waiting: readonly Arrival[]): Promise<void> {
  await pipeline.arriveAll(waiting);
  while (pipeline.waitingTotal > 0) await wait(2);
}

await workOff(arrivals.splice(0, warmUp));
const started = performance.now();
await workOff(arrivals.splice(0));
const seconds = (performance.now() - started) / 1000;
await pipeline.stop();
await documents.stop(signal);
await store.close();
process.stdout.write(`${JSON.stringify({ perSecond: count / seconds })}\n`);
process.exit(0);
