/** Headers as balancers send them. */
export const signature = Buffer.from("0d0a0d0a000d0a515549540a", "hex");

/** IPv4 addresses and ports: from 198.51.100.7, port 4711, to 10.0.0.4, port 2222. */
export const ipv4Addresses = Buffer.from([198, 51, 100, 7, 10, 0, 0, 4, 0x12, 0x67, 0x08, 0xae]);

export interface BinaryParts {
  /** Version and command; 0x21 unless given: PROXY. */
  readonly command?: number;
  /** Family and transport; 0x11 unless given: TCP over IPv4. */
  readonly family?: number;
  readonly addresses?: Buffer;
  readonly additions?: Buffer;
  /** What the header says it has; what it has unless given. */
  readonly length?: number;
}

export function binaryHeader(parts: BinaryParts = {}): Buffer {
  const { command = 0x21, family = 0x11, addresses = ipv4Addresses, additions = Buffer.alloc(0) } = parts;
  const rest = Buffer.concat([addresses, additions]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(parts.length ?? rest.length);
  return Buffer.concat([signature, Buffer.from([command, family]), length, rest]);
}

export function addition(type: number, value: Buffer): Buffer {
  const head = Buffer.from([type, 0, 0]);
  head.writeUInt16BE(value.length, 1);
  return Buffer.concat([head, value]);
}

/** What a balancer sends to see whether a server is well. */
export const localHeader = binaryHeader({ command: 0x20, family: 0, addresses: Buffer.alloc(0) });
