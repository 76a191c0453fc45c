/**
 * Names that a node has taken away in the middle of a move, and neither removed nor given back, because it died then. Who files
 * the task anew tidies up after it. What is left of tasks that are filed is found here: a node was frozen, lost the company,
 * woke up amid the move and died.
 *
 *   inbound/, .again   .<id>.<mark>.gone              removed, or given back when it is another file
 *   receipts/          .<id or again>.<mark>.gone*    the receipt of the name is written again by the ledger, and it is removed
 *
 * Whoever makes such a name needs it for a moment only, so one that is there at two looks has nobody any more.
 */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { unlessMissing } from "../../lib/errors.ts";
import { unlink } from "../../lib/files/changes.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Ownership, TakenCompany } from "../../store/cluster/ownership.ts";
import type { Store } from "../../store/database/database.ts";
import { findFile, type LedgerEntry } from "../../store/ledger/files.ts";
import type { Locations } from "../places/locations.ts";
import { againFolderName } from "../places/place-arrival.ts";
import { endTaking } from "../places/shared-moves.ts";
import type { AwaitedReceipts } from "../receipts/awaited-receipts.ts";

export interface TakenNamesDeps {
  readonly company: TakenCompany;
  readonly ownership: Pick<Ownership, "fenceOf">;
  readonly store: Pick<Store, "read">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "open">;
  readonly receipts: Pick<AwaitedReceipts, "writeAgain">;
  readonly log: Logger;
  readonly failing: LimitedLog;
}

export const takenLookMs = 15_000;
/** `receipts/` may have many files, and its names are taken away rarely: it is looked at by each so many looks. */
const looksForReceipts = 240;

const takenForm = /^\.(\d+|again)\.[0-9a-f]+\.gone/;

export class TakenNames {
  readonly #deps: TakenNamesDeps;
  #looks = 0;
  /** Found at the look before. */
  #found: ReadonlySet<string> = new Set();

  constructor(deps: TakenNamesDeps) {
    this.#deps = deps;
  }

  /** Ends what was there at the look before too, unless stopped, or the company is another node's. Never rejects. */
  async look(stopping: AbortSignal): Promise<void> {
    try {
      await this.#look(stopping);
    } catch (error) {
      this.#deps.failing.warn(
        { err: error },
        "what nodes that died have left cannot be looked for; retrying",
      );
    }
  }

  async #look(stopping: AbortSignal): Promise<void> {
    const { locations, company } = this.#deps;
    const inbound = locations.inboundDirectory(company.companyCode);
    // The first two, and then now and again two in a row.
    const withReceipts = this.#looks % looksForReceipts < 2;
    this.#looks += 1;
    const files = [...(await takenIn(inbound)), ...(await takenIn(join(inbound, againFolderName)))];
    const receipts = withReceipts ? await takenIn(locations.receiptsDirectory(company.companyCode)) : [];
    const before = this.#found;
    this.#found = new Set([...files, ...receipts]);
    const isHere = () => this.#deps.ownership.fenceOf(company.companyId) !== undefined;
    const left = (path: string) => before.has(path) && !stopping.aborted && isHere();
    for (const path of files) if (left(path)) await this.#endFile(path);
    for (const path of receipts) if (left(path)) await this.#endReceipt(path, stopping);
  }

  async #endFile(path: string): Promise<void> {
    const { locations, log } = this.#deps;
    const entry = await this.#entryOf(path);
    // While it is not filed, its task tidies up.
    if (entry?.isFiled !== true) return;
    const from = locations.fromLedger(entry.source);
    if (dirname(from) !== dirname(path)) return;
    if (endTaking(path, { from, at: locations.fromLedger(entry.location) }))
      log.warn(
        { fileId: entry.id, file: entry.name },
        "a file that a node had taken away before it died was given back",
      );
  }

  async #endReceipt(path: string, stopping: AbortSignal): Promise<void> {
    const { store, ledgerNumbers, receipts } = this.#deps;
    const text = (await readFile(path, "utf8").catch(unlessMissing)) ?? "";
    const id = ledgerNumbers.open(/ Ledger="([^"]+)"/.exec(text)?.[1] ?? "");
    const entry = id === undefined ? undefined : await findFile(store.read, id);
    if (stopping.aborted) return;
    if (entry !== undefined) await receipts.writeAgain(entry);
    await unlink(path).catch(unlessMissing);
  }

  async #entryOf(path: string): Promise<LedgerEntry | undefined> {
    const [, id] = takenForm.exec(path.slice(dirname(path).length + 1)) ?? [];
    return await findFile(this.#deps.store.read, Number(id));
  }
}

async function takenIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(unlessMissing)) ?? [];
  return names.filter((name) => takenForm.test(name)).map((name) => join(folder, name));
}
