/**
 * Names that a file of a watched folder cannot have: no SFTP client could ask for its receipt, no listing would show it,
 * and the receipt would carry what XML and terminals cannot. Such a file is left alone until somebody renames it.
 */

/** Whether the name holds a control character, such as a line break. */
export function hasControlCharacterInName(name: string): boolean {
  return /\p{Cc}/u.test(name);
}
