/**
 * Receipts beside files in `error/`, which a node writes again when the one before it has died. One that dies amid that leaves
 * its private names there (`places/shared-moves.ts`):
 *
 *   .again.<mark>.gone, .former   the receipt that was there: given back, unless there is one again
 *   .again.<mark>.gone.new        removed: the one in whose place it was to be is there, or given back
 *
 * None of them is needed by then: it is of a process that has the company no more, and calls that make such names wait for
 * nothing in between. One that stands still amid them finds them gone when it goes on, and changes nothing.
 */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { unlessMissing } from "../../lib/errors.ts";
import { unlink } from "../../lib/files/changes.ts";
import { putBack } from "../../lib/files/put-back.ts";
import type { LedgerEntry } from "../../store/ledger/files.ts";
import type { Locations } from "../places/locations.ts";
import { receiptBeside, receiptPathsOf } from "../places/places.ts";
import { type AnsweredDeps, entryAnsweredAt } from "./answered-entry.ts";

const form = /^\.again\.[0-9a-f]+\.gone(?:\.new|\.former)?$/;

/** In which folders receipts of these entries lie beside their files. */
export function foldersBeside(
  locations: Locations,
  companyCode: string,
  entries: readonly LedgerEntry[],
): readonly string[] {
  const paths = entries.flatMap(({ name, location }) =>
    receiptPathsOf(locations, { companyCode, name, to: locations.fromLedger(location) }).slice(1),
  );
  return [...new Set(paths.map((path) => dirname(path)))];
}

export interface BesideDeps extends AnsweredDeps {
  readonly locations: Locations;
}

async function endOne(deps: BesideDeps, path: string, mayGoOn: () => boolean): Promise<void> {
  const entry = path.endsWith(".new") ? undefined : await entryAnsweredAt(deps, path);
  const file = entry && deps.locations.fromLedger(entry.location);
  if (!mayGoOn()) return;
  if (file !== undefined && dirname(file) === dirname(path)) await putBack(path, receiptBeside(file));
  else await unlink(path);
}

/** Ends what is left in such a folder, as long as `mayGoOn`. Rejects when the file system refuses. */
export async function endReceiptsBeside(
  deps: BesideDeps,
  folder: string,
  mayGoOn: () => boolean,
): Promise<void> {
  const names = (await readdir(folder).catch(unlessMissing)) ?? [];
  for (const name of names.filter((one) => form.test(one)))
    if (mayGoOn()) await endOne(deps, join(folder, name), mayGoOn).catch(unlessMissing);
}
