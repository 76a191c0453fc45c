/** The lines in which documents of a company wait: those of different lines need not wait for each other. */
export type DocumentLine = "files" | "bodies" | "largeFiles" | "largeBodies";

/** Documents that wait for each other. */
export interface ServedLine {
  readonly companyCode: string;
  readonly line: DocumentLine;
}

/** Larger ones take a thread for longer than a moment. */
const largeBytes = 1024 * 1024;

export const isSameLine = (one: ServedLine, other: ServedLine) =>
  one.companyCode === other.companyCode && one.line === other.line;

export const isLargeLine = (line: DocumentLine) => line === "largeFiles" || line === "largeBodies";

/** The line of a file, or of bytes that came over the web service. */
export function lineFor(path: string | undefined, size: number): DocumentLine {
  if (path === undefined) return size > largeBytes ? "largeBodies" : "bodies";
  return size > largeBytes ? "largeFiles" : "files";
}
