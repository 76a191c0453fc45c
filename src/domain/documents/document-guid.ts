/**
 * GUIDs of documents: the value of `reference`, by which a document is fetched
 * (specification/legacy-services.md#documents).
 */
import { hash } from "node:crypto";

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
