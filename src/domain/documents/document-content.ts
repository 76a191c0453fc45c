/**
 * Takes the content out of documents (specification/legacy-services.md#documents): a document object is stored without
 * `documentData`, with the GUID of the content as its `reference`. Pure: the caller stores the contents.
 */
import { hash } from "node:crypto";
import type { Fault } from "../../lib/errors.ts";
import type { DocumentObject } from "./document-object.ts";

/** A document whose content was taken out of its object and is in the document store under its hash. */
export interface KeptDocument {
  /** Its `reference`. */
  readonly guid: string;
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  readonly name: string | null;
}

export interface WithDocuments {
  readonly documents?: readonly DocumentObject[] | undefined;
}

export interface DocumentContent {
  readonly document: KeptDocument;
  readonly bytes: Uint8Array;
}

export interface SplitDocuments<T> {
  /** The entity without content; the very same one when it had none. */
  readonly entity: T;
  readonly contents: readonly DocumentContent[];
  /** 902 for each `documentData` that is no base64. */
  readonly faults: readonly Fault[];
}

const notBase64 = /[^A-Za-z0-9+/]/;
const maxPadding = 2;

/** The bytes of a base64 text (RFC 4648, with padding; white space as in base64Binary), or undefined when it is none. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const digits = text.replace(/\s+/g, "");
  let end = digits.length;
  while (end > 0 && digits.length - end < maxPadding && digits[end - 1] === "=") end -= 1;
  // One search for characters that are not allowed: a pattern for the whole text would overflow the stack on long ones.
  if (digits.length % 4 !== 0 || notBase64.test(digits.slice(0, end))) return undefined;
  return Buffer.from(digits, "base64");
}

const guidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function withBits(digits: string, mask: number, bits: number): string {
  return ((Number.parseInt(digits, 16) & mask) | bits).toString(16).padStart(digits.length, "0");
}

/**
 * The GUID (UUID version 8, lower case) of a content under a name. It follows from both, so that a document that is sent
 * again keeps its reference and nothing has to be looked up. It gives nobody access: who has a document is in the register.
 */
export function documentGuid(sha256: string, name: string | null): string {
  const digest = hash("sha256", `${sha256}\0${name ?? ""}`, "hex");
  const version = withBits(digest.slice(12, 16), 0x0fff, 0x8000);
  const variant = withBits(digest.slice(16, 20), 0x3fff, 0x8000);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-${version}-${variant}-${digest.slice(20, 32)}`;
}

/** The GUID in the stored form, whatever its case; undefined when the text is none. */
export function readGuid(text: string): string | undefined {
  return guidForm.test(text) ? text.toLowerCase() : undefined;
}

function contentOf(bytes: Uint8Array, name: string | undefined): DocumentContent {
  const sha256 = hash("sha256", bytes, "hex");
  const known = name === undefined || name === "" ? null : name;
  return {
    document: { guid: documentGuid(sha256, known), sha256, size: bytes.length, name: known },
    bytes,
  };
}

function faultAt(path: string): Fault {
  const message = `${path} is not base64. Send the bytes of the file in base64 with its padding, without a prefix such as data:.`;
  return { code: "wrongType", message, path };
}

/** Whether the entity has documents with content. */
export function hasContent({ documents }: WithDocuments): boolean {
  return documents?.some(({ documentData }) => documentData !== undefined) === true;
}

/**
 * Splits an entity that has passed its validation. `path` is where it stands in the request (`stops[3]`), so that faults
 * name `stops[3].documents[0].documentData`. An empty `documentData` is no content; the `reference` that came stays then.
 */
export function splitDocuments<T extends WithDocuments>(entity: T, path: string): SplitDocuments<T> {
  if (entity.documents === undefined || !hasContent(entity)) return { entity, contents: [], faults: [] };
  const contents: DocumentContent[] = [];
  const faults: Fault[] = [];
  const documents = entity.documents.map(({ documentData, ...document }, index): DocumentObject => {
    if (documentData === undefined || documentData === "") return document;
    const bytes = decodeBase64(documentData);
    if (bytes === undefined) {
      faults.push(faultAt(`${path}.documents[${index}].documentData`));
      return document;
    }
    const content = contentOf(bytes, document.documentName);
    contents.push(content);
    return { ...document, reference: content.document.guid };
  });
  return { entity: { ...entity, documents }, contents, faults };
}
