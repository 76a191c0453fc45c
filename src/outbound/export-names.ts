/** What the files of an export are called: always the same for the same export. */
import type { ExportRecord } from "../store/outbound/exports.ts";

export interface ExportNames {
  /** What the delivery is called: the document, or the folder of single files. */
  readonly delivery: string;
  /** The folder, for an export of single files. */
  readonly directory?: string;
  /** The file that comes last and tells that all are there. */
  readonly manifest: string;
}

/** The manifest of an export of single files, in its folder. */
export const manifestOfFolder = "manifest.xml";

const numberLength = 6;

/** Files are `<company>_<name>_<number>.xml`; folders `<name>-<UTC day on which it was made>-<number>`. */
export function exportNames(made: ExportRecord): ExportNames {
  const number = String(made.sequenceNbr).padStart(numberLength, "0");
  if (made.form === "files") {
    const day = new Date(made.createdAt).toISOString().slice(0, 10);
    const directory = `${made.name}-${day}-${number}`;
    return { delivery: directory, directory, manifest: manifestOfFolder };
  }
  const base = `${made.companyCode.toLowerCase()}_${made.name}_${number}`;
  return { delivery: `${base}.xml`, manifest: `${base}.manifest.xml` };
}
