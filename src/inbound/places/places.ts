/** Where decided files and their receipts go. */
import { basename, dirname, join } from "node:path";
import type { DecidedState } from "../../domain/files/file-state.ts";
import { isReceiptName, nameWithMark, receiptNameOf } from "../../domain/files/stop-file-name.ts";
import type { FilingTask } from "./file-away.ts";
import type { Locations } from "./locations.ts";

const folderOf: Readonly<Record<DecidedState, "archive" | "error">> = {
  applied: "archive",
  // Of one that was applied: others go where the first went.
  duplicate: "archive",
  refused: "error",
  superseded: "error",
};

/**
 * The place of a decided file, as the ledger names it: under its own name unless that may be taken. The name of a
 * receipt may be taken at any time, by the receipt of a file that is refused later. Hosts see these names: they have the
 * reference of the entry that its receipt has, and not its number, which counts the files of all companies.
 */
export function locationFor(
  locations: Locations,
  file: {
    readonly companyCode: string;
    readonly name: string;
    /** The sealed number of the entry. */
    readonly reference: string;
    readonly state: DecidedState;
    readonly isNameTaken: boolean;
    readonly now: number;
  },
): string {
  const directory = locations.filedDirectory(file.companyCode, folderOf[file.state], file.now);
  const isOwnName = !file.isNameTaken && !isReceiptName(file.name);
  return locations.toLedger(join(directory, isOwnName ? file.name : nameWithMark(file.name, file.reference)));
}

/** `companies/CODE/error/…`, where a receipt lies beside each file. */
export function isBelowErrorFolder(locations: Locations, path: string): boolean {
  return locations.toLedger(path).split("/", 3)[2] === "error";
}

/** Where the receipt of a file in `error/` lies beside it. */
export function receiptBeside(path: string): string {
  return join(dirname(path), receiptNameOf(basename(path)));
}

/** Where the receipts of a file lie that is filed away to `to`: one in `error/` has its receipt beside it as well. */
export function receiptPathsOf(
  locations: Locations,
  { companyCode, name, to }: { readonly companyCode: string; readonly name: string; readonly to: string },
): readonly [string, ...string[]] {
  const ofName = join(locations.receiptsDirectory(companyCode), receiptNameOf(name));
  return isBelowErrorFolder(locations, to) ? [ofName, receiptBeside(to)] : [ofName];
}

/** What is to be done to file a decided file away. */
export function toFilingTask(
  locations: Locations,
  file: {
    readonly companyId: number;
    readonly companyCode: string;
    readonly name: string;
    readonly from: string;
    readonly decided: {
      readonly id: number;
      /** The sealed number of the entry. */
      readonly reference: string;
      readonly location: string;
      readonly sha256: string | null;
      readonly receipt: string;
      /** The receipt in `receipts/`, when it is another. */
      readonly receiptOfName?: string | undefined;
    };
  },
): FilingTask {
  const { decided, name, from } = file;
  const to = locations.fromLedger(decided.location);
  const receiptPaths = receiptPathsOf(locations, { companyCode: file.companyCode, name, to });
  const [receiptPath, beside] = receiptPaths;
  const stale = isBelowErrorFolder(locations, from) ? receiptBeside(from) : undefined;
  return {
    id: decided.id,
    companyId: file.companyId,
    reference: decided.reference,
    from,
    to,
    sha256: decided.sha256,
    receipt: decided.receipt,
    receiptPaths,
    ...(decided.receiptOfName === undefined
      ? {}
      : { receiptOfName: { path: receiptPath, text: decided.receiptOfName } }),
    ...(stale === undefined || stale === beside ? {} : { staleReceiptPath: stale }),
  };
}
