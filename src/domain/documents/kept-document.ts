/**
 * A document whose content was taken out of its object and is in the document store under its hash
 * (specification/legacy-services.md#documents).
 */
export interface KeptDocument {
  /** Its `reference`. */
  readonly guid: string;
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  readonly name: string | null;
}
