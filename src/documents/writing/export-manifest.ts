/**
 * What the document and the manifest of a batch export have in common, their head (specification/outbound.md#exports); and
 * the writer of the manifest. What it writes obeys `xsd/export-manifest.xsd`.
 */
import { wrapElement, xmlDeclaration } from "./element-writer.ts";
import { exportElement, filesElement } from "./export-elements.ts";
import { compileOutgoing } from "./outgoing-style.ts";

export interface ExportWindow {
  /** How many completions the exports of that name have had, before it and with it. */
  readonly begin: number;
  readonly end: number;
  /** The moment it was due, milliseconds UTC; missing or null for one that was asked for by hand. */
  readonly dueAt?: number | null;
  /** The moment at which the window was closed, milliseconds UTC. */
  readonly createdAt: number;
}

export interface ExportHead {
  readonly companyCode: string;
  /** Of the export in the configuration. */
  readonly name: string;
  readonly sequenceNbr: number;
  readonly window: ExportWindow;
  /** Completions in the window. */
  readonly count: number;
}

function utcText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** The head as the table of elements reads it. */
export function exportHeadView({ companyCode, name, sequenceNbr, window, count }: ExportHead) {
  const { dueAt, createdAt } = window;
  const due = dueAt === undefined || dueAt === null ? {} : { dueAt: utcText(dueAt) };
  const times = { ...due, createdAt: utcText(createdAt) };
  const { begin, end } = window;
  return { companyCode, name, sequenceNbr, count, window: { begin, end, ...times } };
}

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
