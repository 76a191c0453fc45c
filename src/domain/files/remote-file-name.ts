/** Names in the listings of other servers: which of them can be the name of a file here. */
import { maxNameBytes } from "./stop-file-name.ts";
import { hasControlCharacterInName } from "./unfinished-name.ts";

/** Why a file of this name is not fetched, and what to do about it; undefined when it can be. */
export function faultOfRemoteName(name: string): string | undefined {
  if (name === "" || name === "." || name === "..") return "it is not the name of a file";
  if (/[/\\]/.test(name)) return "its name leads to another folder: rename it, without / and \\";
  if (hasControlCharacterInName(name)) {
    return "its name has a control character, such as a line break: rename it";
  }
  if (name.includes("\uFFFD")) return "its name is not UTF-8: rename it";
  if (Buffer.byteLength(name) > maxNameBytes)
    return `its name has more than ${maxNameBytes} bytes: rename it`;
  return undefined;
}
