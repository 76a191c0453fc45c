/** Limits on open connections, in all and per address; counted on the sockets, so that silent ones count too. */
import type { Socket } from "node:net";
import { peerKeyOf } from "../../lib/address-range.ts";

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

export type Admission = "admitted" | "tooMany" | "tooManyOfAddress";

interface Count {
  open: number;
  /** One excess is reported until the address has been under its limit again: a burst is one fault, not fifty. */
  isReported: boolean;
}

export interface ConnectionGuard {
  /** Counts the socket until it closes, unless it is over a limit; then the caller closes it. */
  admit(socket: Socket, address: string, limits: ConnectionLimits): Admission;
  readonly open: ReadonlySet<Socket>;
}

/** Makes the guard. `onBroken` is called once for each time that an address goes over its limit. */
export function createConnectionGuard(onBroken: (address: string) => void): ConnectionGuard {
  const open = new Set<Socket>();
  const counts = new Map<string, Count>();

  function release(socket: Socket, peer: string, count: Count): void {
    open.delete(socket);
    count.open -= 1;
    count.isReported = false;
    if (count.open === 0) counts.delete(peer);
  }

  return {
    open,
    admit(socket, address, limits) {
      if (open.size >= limits.maxConnections) return "tooMany";
      const peer = peerKeyOf(address);
      const count = counts.get(peer) ?? { open: 0, isReported: false };
      if (count.open >= limits.maxConnectionsPerAddress) {
        if (!count.isReported) onBroken(address);
        count.isReported = true;
        return "tooManyOfAddress";
      }
      count.open += 1;
      counts.set(peer, count);
      open.add(socket);
      socket.once("close", () => release(socket, peer, count));
      return "admitted";
    },
  };
}
