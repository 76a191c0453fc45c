/**
 * Shows whether an upload is evidently whole: it begins with an XML element and ends with the end tag of that element,
 * behind which nothing of a document can be missing. Only for uploads whose end the protocol leaves open.
 */
const headBytes = 4_096;
const tailBytes = 256;

/** Text of either encoding that stop files come in, as far as markup goes. */
function markupOf(bytes: Buffer): string {
  return bytes.toString("latin1").replaceAll("\0", "");
}

export class DocumentEnds {
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);

  /** Takes the next bytes of the upload, which began at its first byte. */
  take(chunk: Buffer): void {
    if (this.#head.length < headBytes)
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, headBytes - this.#head.length)]);
    const last = chunk.subarray(-tailBytes);
    this.#tail =
      last.length === tailBytes ? Buffer.from(last) : Buffer.concat([this.#tail, last]).subarray(-tailBytes);
  }

  get isWhole(): boolean {
    const head = markupOf(this.#head).replaceAll(/<!--[\s\S]*?-->/g, "");
    // A comment that is still open would hide which element is the first.
    if (head.includes("<!--")) return false;
    const first = /<([A-Za-z_][A-Za-z0-9_.:-]*)[\s>]/.exec(head)?.[1];
    const last = /<\/([A-Za-z_][A-Za-z0-9_.:-]*)\s*>\s*$/.exec(markupOf(this.#tail))?.[1];
    return first !== undefined && first === last;
  }
}
