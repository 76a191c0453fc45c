/**
 * Which of the documents that a driver captured is the signature, and who signed. The interface defines no types of
 * documents, so the names that driver applications use decide.
 */
import { given } from "../../lib/given.ts";
import type { DocumentObject } from "./document-object.ts";

export interface Signature {
  readonly document: DocumentObject;
  readonly signee?: string;
  readonly signeeRole?: string;
}

function saysSignature(value: string | number | undefined): boolean {
  return /signature/i.test(String(value ?? ""));
}

function signatoryOf({ docSignatories = [] }: DocumentObject) {
  return docSignatories.find(({ signatoryName = "" }) => signatoryName.trim() !== "");
}

/** In this order: called a signature by its type, with a named signatory, called a signature by its name. */
const signs: readonly ((document: DocumentObject) => boolean)[] = [
  (one) => [one.documentType, one.documentCategory, one.dispositionType].some(saysSignature),
  (one) => signatoryOf(one) !== undefined,
  (one) => [one.documentName, one.description].some(saysSignature),
];

/**
 * The signature among documents in the order in which they were captured: the last one that says by `documentType`,
 * `documentCategory` or `dispositionType` that it is one; else the last one with a named signatory; else the last one
 * that says so in its name or description. Undefined when none does.
 */
export function signatureOf(captured: readonly DocumentObject[]): Signature | undefined {
  for (const isSignature of signs) {
    const document = captured.findLast(isSignature);
    if (document === undefined) continue;
    const { signatoryName, role } = signatoryOf(document) ?? {};
    return { document, ...given({ signee: signatoryName, signeeRole: role }) };
  }
  return undefined;
}
