/**
 * Names of files that stay until somebody renames them: those by which clients mark an unfinished file
 * (specification/file-exchange.md#names), and those that cannot be shown.
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

/**
 * Whether the name holds a control character, such as a line break: no SFTP client could ask for the receipt of such a
 * file, no listing would show it, and XML and terminals cannot carry it. It stays until somebody renames it.
 */
export function hasControlCharacterInName(name: string): boolean {
  return /\p{Cc}/u.test(name);
}
