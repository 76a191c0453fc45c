import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import type { ExchangeRights } from "../exchange-session.ts";

/**
 * What a host may do in each folder of its company (specification/file-exchange.md#folders). Every folder may be
 * listed, and nothing may be done that does not stand here.
 */
interface FolderRights {
  /** Whether files may be read. */
  readonly get: boolean;
  /** Whether files may be uploaded. */
  readonly put: boolean;
  readonly remove: "nothing" | "ownUnfinished" | "files";
  readonly rename: "nothing" | "ownUnfinished" | "intoDone";
  /** Whether it may hold folders, one level deep. */
  readonly hasFolders: boolean;
  /** Whether a deletion is written into the ledger before it is done. */
  readonly isRemovalRecorded: boolean;
  /** Whether a complete download and a deletion count as picked up. */
  readonly isPickupRecorded: boolean;
  /** Whether receipts lie there; a complete download and a deletion of one are noted with its ledger entry. */
  readonly hasReceipts: boolean;
}

const nothing: FolderRights = {
  get: false,
  put: false,
  remove: "nothing",
  rename: "nothing",
  hasFolders: false,
  isRemovalRecorded: false,
  isPickupRecorded: false,
  hasReceipts: false,
};

const folderRights = {
  inbound: { ...nothing, put: true, remove: "ownUnfinished", rename: "ownUnfinished" },
  outbound: {
    ...nothing,
    get: true,
    remove: "files",
    rename: "intoDone",
    hasFolders: true,
    isPickupRecorded: true,
  },
  receipts: { ...nothing, get: true, remove: "files", hasReceipts: true },
  archive: { ...nothing, get: true, hasFolders: true },
  error: {
    ...nothing,
    get: true,
    remove: "files",
    hasFolders: true,
    isRemovalRecorded: true,
    hasReceipts: true,
  },
} as const satisfies Record<string, FolderRights>;

export type FolderName = keyof typeof folderRights;

/** The folders of a company in the order in which they are listed. */
export const folderNames: readonly FolderName[] = ["inbound", "outbound", "receipts", "archive", "error"];

/** Where hosts move what they have picked up. */
export const doneFolderName = "done";

export function isFolderName(name: string): name is FolderName {
  return Object.hasOwn(folderRights, name);
}

export function rightsOf(folder: FolderName): FolderRights {
  return folderRights[folder];
}

/** What may be done with a file of that name in the folder; without a name, with the folder itself. */
export function fileRightsIn(folder: FolderName, name: string | undefined): ExchangeRights {
  const { get, put, remove, rename } = rightsOf(folder);
  if (name === undefined) return { get: false, put, remove: false, rename: false };
  const mayIf = (right: FolderRights["remove"] | FolderRights["rename"]): boolean =>
    right === "ownUnfinished" ? isUnfinishedName(name) : right !== "nothing";
  return { get, put, remove: mayIf(remove), rename: mayIf(rename) };
}
