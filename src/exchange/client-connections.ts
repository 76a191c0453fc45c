/** How endpoints of the file exchange let connections in, and how they end them. */
import type { Socket } from "node:net";
import { aborted } from "../lib/aborted.ts";
import { normaliseAddress } from "../lib/address-range.ts";
import type { Logger } from "../lib/log.ts";

/** Clients that vanished without a word would otherwise hold their place until the idle time-out. */
const keepAliveAfterMs = 30_000;
/** How long connections that were destroyed may take to finish what they have received. */
const afterDeadlineMs = 1_000;

export interface Door {
  /** Of the endpoint, for the log. */
  readonly name: string;
  readonly log: Logger;
  /** Why a connection from this address is not let in, in words for the log. */
  refusalOf(address: string): string | undefined;
}

export interface ClientConnection {
  readonly finished: Promise<void>;
  /** Lets it end with what is under way. */
  drain(): void;
  destroy(): void;
}

/** The address of a connection that is let in; one that is not is destroyed, and undefined the answer. */
export function letIn(socket: Socket, { name, log, refusalOf }: Door): string | undefined {
  // The listener comes first: a socket can fail before anything else is known of it.
  socket.on("error", () => undefined);
  const { remoteAddress } = socket;
  if (remoteAddress === undefined) {
    socket.destroy();
    return undefined;
  }
  const address = normaliseAddress(remoteAddress);
  const reason = refusalOf(address);
  if (reason !== undefined) {
    log.info({ address, reason }, `${name} connection refused`);
    socket.destroy();
    return undefined;
  }
  socket.setKeepAlive(true, keepAliveAfterMs);
  return address;
}

/** Lets the connections end by themselves until the deadline, then ends them. */
export async function endConnections(
  connections: readonly ClientConnection[],
  deadline: AbortSignal,
): Promise<void> {
  for (const connection of connections) connection.drain();
  const allFinished = Promise.all(connections.map(({ finished }) => finished));
  await Promise.race([allFinished, aborted(deadline)]);
  for (const connection of connections) connection.destroy();
  // Without a link only what had been received is finished; a disk that hangs must not hold up the others.
  await Promise.race([allFinished, aborted(AbortSignal.timeout(afterDeadlineMs))]);
}
