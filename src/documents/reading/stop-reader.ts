/**
 * Makes canonical stops from the text of a well-formed document, by the table of elements. It runs before the XSD is
 * checked, so it passes over what does not belong: what it made counts only once the document is known to be valid. In
 * the same pass it holds the document to its limits, so that no huge document reaches the XSD check.
 */
import type { Stop } from "../../domain/stop/stop.ts";
import type { Fault } from "../../lib/errors.ts";
import { XmlCursor, XmlLimitReached } from "../xml/xml-cursor.ts";
import { FieldReader, type Fields, type ReaderLimits } from "./field-reader.ts";

/** A stop as read; `functionCode` and `stopNbr` are empty when the (then invalid) document lacks them. */
export interface ReadInstruction {
  readonly functionCode: string;
  readonly stopNbr: string;
  readonly stop: Fields;
  readonly line: number;
}

export interface ReadDocument {
  readonly documentId?: string;
  readonly companyCode?: string;
  readonly instructions: readonly ReadInstruction[];
  /** Wrong values that the XSD cannot recognise, such as 30 February. */
  readonly faults: readonly Fault[];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isOfNumber({ path }: Fault): boolean {
  return path?.endsWith("/StopNbr") === true;
}

class StopReader {
  readonly #cursor: XmlCursor;
  readonly #limits: ReaderLimits;
  readonly #instructions: ReadInstruction[] = [];
  readonly #faults: Fault[] = [];
  readonly #fields: FieldReader;
  #known = { offset: 0, line: 1 };
  #documentId: string | undefined;
  #companyCode: string | undefined;

  constructor(text: string, limits: ReaderLimits) {
    this.#cursor = new XmlCursor(text, limits);
    this.#fields = new FieldReader(this.#cursor, limits);
    this.#limits = limits;
  }

  read(): ReadDocument {
    if (this.#cursor.openNext()) {
      if (this.#cursor.name === "Stop") this.#readStop("Stop");
      else if (this.#cursor.name === "Stops") this.#readStops();
      else this.#cursor.skip();
    }
    return {
      ...(this.#documentId === undefined ? {} : { documentId: this.#documentId }),
      ...(this.#companyCode === undefined ? {} : { companyCode: this.#companyCode }),
      instructions: this.#instructions,
      faults: this.#faults,
    };
  }

  lineAt(offset: number): number {
    return this.#cursor.lineAt(offset);
  }

  #readStops(): void {
    const cursor = this.#cursor;
    while (cursor.openNext()) {
      if (cursor.name === "Stop") this.#readStop(`Stops/Stop[${this.#instructions.length + 1}]`);
      else if (cursor.name === "DocumentID") this.#documentId = cursor.leafText().trim() || undefined;
      else if (cursor.name === "CompanyCode") this.#companyCode = cursor.leafText().trim() || undefined;
      else cursor.skip();
    }
  }

  #readStop(path: string): void {
    const start = this.#cursor.start;
    if (this.#instructions.length >= this.#limits.maxStops) {
      throw new XmlLimitReached(`there are more than ${this.#limits.maxStops} stops`, start);
    }
    this.#known = { offset: start, line: this.#cursor.lineAt(start, this.#known) };
    this.#keep(this.#fields.readStop(path));
  }

  #keep(stop: Fields): void {
    const { functionCode, faults } = this.#fields;
    const stopNbr = textOf(stop["stopNbr"]);
    const line = this.#known.line;
    if (functionCode === "02") {
      // With 02 only Function and StopNbr count: neither the other values nor their faults do.
      this.#instructions.push({ functionCode, stopNbr, stop: { stopNbr }, line });
      this.#faults.push(...faults.filter(isOfNumber));
      return;
    }
    this.#instructions.push({ functionCode, stopNbr, stop, line });
    for (const fault of faults) this.#faults.push({ ...fault, ...(stopNbr === "" ? {} : { stopNbr }) });
  }
}

/** What reading a well-formed text gives: the document, or the limit it is over. */
export type StopTextOutcome =
  | { readonly kind: "read"; readonly document: ReadDocument }
  | { readonly kind: "overLimit"; readonly message: string; readonly line: number };

/** Reads the text of a document that is known to be well-formed and without DOCTYPE. */
export function readStopText(text: string, limits: ReaderLimits): StopTextOutcome {
  const reader = new StopReader(text, limits);
  try {
    return { kind: "read", document: reader.read() };
  } catch (error) {
    if (!(error instanceof XmlLimitReached)) throw error;
    return { kind: "overLimit", message: error.message, line: reader.lineAt(error.offset) };
  }
}

/** A stop that was read from a document which has passed the XSD, whose types therefore hold. */
export function asStop(fields: unknown): Stop {
  return fields as Stop;
}
