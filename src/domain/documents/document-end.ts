/** Whether the text of a document looks complete, judged by its two ends. */

/**
 * The name of the first element whose start tag is in the text; everything before it is skipped. Undefined when there
 * is none.
 */
function rootName(begin: string): string | undefined {
  const afterProlog = begin.replaceAll(/<\?.*?\?>|<!--.*?-->/gs, "");
  return /<([^\s<>/!?]+)/.exec(afterProlog)?.[1];
}

/**
 * Whether the text ends with the end tag of its root. A document that does not may still be whole: with a comment at its
 * end, or with a root that is empty. One that does was not cut off, but for a writer that writes it from behind.
 */
export function endsWithRoot(begin: string, end: string): boolean {
  const closed = /<\/([^\s<>/]+)\s*>\s*$/.exec(end)?.[1];
  return closed !== undefined && closed === rootName(begin);
}

/** How many bytes at both ends of a file are enough to judge. */
export const documentEndBytes = 4 * 1024;

/** The letters of tags, for `endsWithRoot`. UTF-16 counts as well: there every second byte of them is zero. */
export function lettersOf(bytes: Buffer): string {
  return bytes.toString("latin1").replaceAll("\0", "");
}
