/**
 * Names by which clients mark a file they have not finished (specification/file-exchange.md#names): left alone until
 * they are renamed.
 */
const unfinishedEndings = [
  ".part",
  ".partial",
  ".filepart",
  ".tmp",
  ".writing",
  ".uploading",
  ".crdownload",
  "~",
];

/** Whether the name says "unfinished": a dot-file, or one of the endings, in any case. */
export function isUnfinishedName(name: string): boolean {
  const lower = name.toLowerCase();
  return lower.startsWith(".") || unfinishedEndings.some((ending) => lower.endsWith(ending));
}
