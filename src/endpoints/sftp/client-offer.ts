/**
 * Reads which algorithms a client offers from the first bytes of its connection, which are not encrypted: its
 * identification line, then its KEXINIT packet (RFC 4253, sections 4.2, 6 and 7.1). The SSH library does not report it.
 */

export interface ClientOffer {
  readonly identification: string;
  readonly kex: readonly string[];
  readonly hostKey: readonly string[];
  /** From client to server, from server to client. */
  readonly ciphers: readonly (readonly string[])[];
  readonly macs: readonly (readonly string[])[];
  readonly compressions: readonly (readonly string[])[];
}

function hostKeyTypeOf(algorithm: string): string {
  if (algorithm === "ssh-rsa" || algorithm.startsWith("rsa-sha2-")) return "rsa";
  return algorithm.startsWith("ecdsa-sha2-") ? "ecdsa" : algorithm;
}

/** Whether the client wants a host key of one certain type and no other. */
export function isForOneHostKeyType({ hostKey }: ClientOffer): boolean {
  return new Set(hostKey.map(hostKeyTypeOf)).size === 1;
}

const kexInit = 20;
const cookieBytes = 16;
/** More than the longest sensible KEXINIT. */
const maxBytes = 36 * 1024;

function nameListsOf(payload: Buffer): string[][] {
  const lists: string[][] = [];
  let at = 1 + cookieBytes;
  while (lists.length < 8 && at + 4 <= payload.length) {
    const end = at + 4 + payload.readUInt32BE(at);
    if (end > payload.length) break;
    const text = payload.toString("latin1", at + 4, end);
    lists.push(text === "" ? [] : text.split(","));
    at = end;
  }
  return lists;
}

function offerOf(bytes: Buffer): ClientOffer | undefined {
  const lineEnd = bytes.indexOf(10);
  if (lineEnd < 0 || bytes.length < lineEnd + 7) return undefined;
  const packetAt = lineEnd + 1;
  const packetEnd = packetAt + 4 + bytes.readUInt32BE(packetAt);
  if (bytes.length < packetEnd || bytes.readUInt8(packetAt + 5) !== kexInit) return undefined;
  const lists = nameListsOf(bytes.subarray(packetAt + 5, packetEnd));
  const [kex, hostKey, cipherIn, cipherOut, macIn, macOut, compressionIn, compressionOut] = lists;
  if (kex === undefined || hostKey === undefined || compressionOut === undefined) return undefined;
  return {
    identification: bytes.toString("latin1", 0, Math.min(lineEnd, 255)).trim(),
    kex,
    hostKey,
    ciphers: [cipherIn ?? [], cipherOut ?? []],
    macs: [macIn ?? [], macOut ?? []],
    compressions: [compressionIn ?? [], compressionOut],
  };
}

/** Reads a connection's first bytes until the offer is known or cannot come any more. */
export class OfferWatch {
  #bytes: Buffer | undefined = Buffer.alloc(0);
  offer: ClientOffer | undefined;

  push(chunk: Buffer): void {
    if (this.#bytes === undefined) return;
    const bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    this.offer = offerOf(bytes);
    this.#bytes = this.offer === undefined && bytes.length < maxBytes ? bytes : undefined;
  }
}
