/** The start of what takes files in: what an earlier run or version has left, then the pipeline. */
import { takeUpFormerJournal } from "../../exchange/journal/take-up-former-journal.ts";
import { soleReceiptFiles } from "../../inbound/places/receipt-files.ts";
import { recheckReceipts, writtenBackMs } from "../../inbound/recovery/rewrite-receipts.ts";
import { systemDisk } from "../../lib/files/durable-file.ts";
import { noteBoot, readLastRun } from "../../store/database/meta.ts";
import { listOpenSources } from "../../store/ledger/files.ts";
import type { Parts } from "./daemon-parts.ts";
import { readBootId } from "./incarnation.ts";
import { exchangeFoldersOf } from "./part-options.ts";

/** The daemon notes that it is alive more often than each minute, unless its store cannot be written. */
const aliveNoteMs = 120_000;

/** Receipts of the last minutes are looked over when the machine was started anew since the last run. */
async function recoverFromPowerFailure(parts: Omit<Parts, "health">): Promise<void> {
  const { store, locations, companies, log, clock, ledgerNumbers, cluster } = parts;
  // Where several nodes are, whoever takes a company over looks.
  if (cluster.keeper !== undefined) return;
  const [last, bootId] = [await readLastRun(store.read), await readBootId()];
  if (last.aliveAt !== undefined && last.bootId !== bootId) {
    const companyCodeOf = companies.codeOf;
    const receiptFiles = soleReceiptFiles;
    await recheckReceipts(
      { store, locations, ledgerNumbers, companyCodeOf, receiptFiles, log },
      last.aliveAt - aliveNoteMs - writtenBackMs,
    );
  }
  await noteBoot(store, bootId, clock.now());
}

async function takeUpJournal({ locations, log, store }: Omit<Parts, "health">) {
  return await takeUpFormerJournal({
    ...exchangeFoldersOf(locations.stateDir),
    disk: systemDisk,
    log,
    placesInLedger: async () =>
      new Set((await listOpenSources(store.read)).map((source) => locations.fromLedger(source))),
  });
}

export async function startInbound(parts: Omit<Parts, "health">): Promise<void> {
  const { stack, signal, documents, pipeline, cluster } = parts;
  await stack.start(documents, signal);
  await recoverFromPowerFailure(parts);
  const arrivals = cluster.keeper === undefined ? await takeUpJournal(parts) : [];
  // Not waited for: their places are known from now on, and a database that is in trouble must not hang the start.
  const arrive = (uploads: typeof arrivals) =>
    void pipeline.arriveAll(uploads.filter(({ path }) => !pipeline.isKnown(path)));
  await stack.start(pipeline, signal);
  arrive(arrivals);
  cluster.keeper?.add({
    name: "journal of an earlier version",
    // Of several nodes that with what concerns no company takes it up; it is gone when all of it stands.
    async take({ companyId }) {
      if (companyId === 0) arrive(await takeUpJournal(parts));
    },
    leave: async () => undefined,
  });
}
