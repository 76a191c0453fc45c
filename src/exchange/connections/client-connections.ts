/** How endpoints of the file exchange let connections in, and how they end them. */
import type { Socket } from "node:net";
import { aborted } from "../../lib/aborted.ts";
import { normaliseAddress } from "../../lib/address-range.ts";

/** Clients that vanished without a word would otherwise hold their place until the idle time-out. */
const keepAliveAfterMs = 30_000;
/** How long connections that were destroyed may take to finish what they have received. */
const afterDeadlineMs = 1_000;

export interface ClientConnection {
  readonly finished: Promise<void>;
  /** Lets it end with what is under way. */
  drain(): void;
  destroy(): void;
}

/** Who decides about connections that come. */
export interface Door<Place> {
  admit(newcomer: {
    readonly address: string;
    displace(): void;
  }): { readonly kind: "admitted"; readonly place: Place } | { readonly kind: "refused" };
}

/** A connection that was let in. */
export interface Admitted<Place> {
  /** Of the client, normalised. */
  readonly address: string;
  readonly place: Place;
}

/** Lets a connection in by the door; one that is refused is destroyed, and undefined the answer. */
export function letIn<Place extends { leave(): void }>(
  socket: Socket,
  door: Door<Place>,
): Admitted<Place> | undefined {
  // The listener comes first: a socket can fail before anything else is known of it.
  socket.on("error", () => undefined);
  const { remoteAddress } = socket;
  if (remoteAddress === undefined) {
    socket.destroy();
    return undefined;
  }
  const address = normaliseAddress(remoteAddress);
  const admission = door.admit({ address, displace: () => socket.destroy() });
  if (admission.kind === "refused") {
    socket.destroy();
    return undefined;
  }
  const { place } = admission;
  socket.once("close", () => place.leave());
  socket.setKeepAlive(true, keepAliveAfterMs);
  return { address, place };
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
