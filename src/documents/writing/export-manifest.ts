/** Writes the manifest of a batch export. What it writes obeys `xsd/export-manifest.xsd`. */
import { wrapElement, xmlDeclaration } from "./element-writer.ts";
import { exportElement, filesElement } from "./export-elements.ts";
import { type ExportHead, exportHeadView } from "./export-head.ts";
import { compileOutgoing } from "./outgoing-style.ts";

export interface ExportedFile {
  readonly name: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** When the file is of one stop. */
  readonly stopNbr?: string;
}

export interface ExportManifest extends ExportHead {
  /** In the order in which they are written and delivered. */
  readonly files: readonly ExportedFile[];
}

const writeManifest = compileOutgoing([exportElement, filesElement]);

/** The text of the manifest, UTF-8. The same manifest gives the same text. */
export function renderExportManifest({ files, ...head }: ExportManifest): string {
  const view = { ...exportHeadView(head), files };
  return `${xmlDeclaration}${wrapElement("ExportManifest", writeManifest(view, "  "), "")}`;
}
