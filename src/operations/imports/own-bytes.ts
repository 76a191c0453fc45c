/** Bytes of their own, so that they can be given away to another thread: those of a small buffer are part of a common one. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return new Uint8Array(buffer);
  return new Uint8Array(bytes);
}
