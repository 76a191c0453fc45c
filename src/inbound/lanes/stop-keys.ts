/**
 * Which stops a file is about, as far as that is known, to keep the files of one stop in order.
 *
 * A file that has not been read is about the stop in its name. A name that has none (they are taken with
 * `inbound.names: lenient`) says nothing: nobody knows the stop of such a file before it has been read once.
 */
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import { parseStopFileName } from "../../domain/files/stop-file-name.ts";
import { stopNumberForms } from "../../domain/files/stop-number-in-name.ts";

function numbersOf(prepared: PreparedDocument | undefined): readonly string[] {
  if (prepared?.kind === "read") return prepared.instructions.map(({ stopNbr }) => stopNbr);
  const first = prepared?.kind === "refused" ? prepared.firstStopNbr : undefined;
  return first === undefined ? [] : [first];
}

/** Keys of the stop in the name, in any case, and of those that the document is known to have. */
export function stopKeysOf(name: string, prepared?: PreparedDocument): readonly string[] {
  const parsed = parseStopFileName(name.toLowerCase());
  const numbers = numbersOf(prepared);
  const forms = numbers.flatMap(stopNumberForms);
  return [...new Set(parsed.kind === "named" ? [parsed.stopNbr, ...forms] : forms)];
}
