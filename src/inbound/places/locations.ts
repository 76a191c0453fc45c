/** Where the bytes of files lie: the folders of a company, and how the ledger names places in them. */
import { isAbsolute, join, relative, resolve } from "node:path";

/** In the state directory. */
export const documentsFolderName = "documents";

const folderForms = {
  inbound: /(?:^|\/)companies\/[^/]+\/inbound\//,
  outbound: /(?:^|\/)companies\/[^/]+\/outbound\//,
} as const;

/** Whether a path, absolute or in a state directory, leads into this folder of a company. */
export function isBelowFolder(path: string, folder: keyof typeof folderForms): boolean {
  return folderForms[folder].test(path);
}

/** Neither `.`, `..` nor an empty name is in it: what a path function would make of it is what it is. */
function isPlain(path: string): boolean {
  return !path.includes("/.") && !path.includes("//");
}

/** The layout of a state directory (specification/operation.md#state-directory). */
export function createLocations(stateDir: string) {
  const inside = `${stateDir}/`;
  const isOwnPlain = isAbsolute(stateDir) && stateDir.length > 1 && isPlain(stateDir);
  const companiesDirectory = join(stateDir, "companies");
  const companyDirectory = (code: string) => join(companiesDirectory, code);
  return {
    stateDir,
    companiesDirectory,
    /** The content of documents, each once (`contentPath`). */
    documentsDirectory: join(stateDir, documentsFolderName),
    companyDirectory,
    inboundDirectory: (code: string) => join(companyDirectory(code), "inbound"),
    /** What hosts collect. */
    outboundDirectory: (code: string) => join(companyDirectory(code), "outbound"),
    receiptsDirectory: (code: string) => join(companyDirectory(code), "receipts"),
    /** `archive/YYYY-MM-DD` or `error/YYYY-MM-DD`, by the UTC day of the decision. */
    filedDirectory: (code: string, folder: "archive" | "error", decidedAt: number) =>
      join(companyDirectory(code), folder, new Date(decidedAt).toISOString().slice(0, 10)),
    /** The form kept in the ledger: relative to the state directory when inside it. */
    toLedger(path: string): string {
      if (isOwnPlain && path.startsWith(inside) && isPlain(path)) return path.slice(inside.length);
      const found = relative(stateDir, path);
      return found.startsWith("..") || isAbsolute(found) ? path : found;
    },
    fromLedger(location: string): string {
      const isInside = isOwnPlain && !location.startsWith("/") && !location.startsWith(".");
      return isInside && isPlain(location) ? inside + location : resolve(stateDir, location);
    },
  };
}

export type Locations = Readonly<ReturnType<typeof createLocations>>;
