/**
 * What a parser thread hands to the main thread: no deep objects, but each stop as JSON text beside the few values that
 * the store indexes, so that passing it on costs little.
 */
import { type DocumentContent, splitDocuments } from "../../domain/documents/document-content.ts";
import { type StopChange, stopChangeOf } from "../../domain/stop/stop-change.ts";
import type { RefusedStopDocument, StopDocument, StopInstruction } from "../reading/stop-document.ts";

export type PreparedDocument =
  | (Omit<StopDocument, "instructions"> & {
      readonly kind: "read";
      readonly sha256: string;
      readonly size: number;
      readonly instructions: readonly StopChange[];
    })
  | (RefusedStopDocument & {
      /** Null for a file that was refused by its size, without being read. */
      readonly sha256: string | null;
      readonly size: number;
    })
  /**
   * The file cannot be read, or the contents of its documents cannot be stored: `systemCode` as ENOENT, EACCES, EIO, ELOOP,
   * ENOSPC, or ENOTREG for what is no regular file. `isOfStore`: the file can be read, but what its documents contain cannot
   * be stored.
   */
  | {
      readonly kind: "unreadable";
      readonly systemCode: string;
      readonly message: string;
      readonly isOfStore?: true;
    };

interface PreparedInstruction {
  readonly change: StopChange;
  /** The contents of the stop's documents, to be stored before the change is handed on. */
  readonly contents: readonly DocumentContent[];
}

/** One instruction in the form that leaves the parser thread. */
export function prepareInstruction({ function: code, stop }: StopInstruction): PreparedInstruction {
  if (stop.documents === undefined) return { change: stopChangeOf(code, stop), contents: [] };
  const { entity, contents, faults } = splitDocuments(stop, "stop");
  // The document has passed the XSD and the rules of its values, so this is a fault of this program.
  if (faults.length > 0) throw new Error(`a document without base64 was read: ${faults[0]?.message}`);
  const documents = contents.map(({ document }) => document);
  return { change: { ...stopChangeOf(code, entity), documents }, contents };
}
