/** A link between a client and a server that a test can slow down, freeze and cut; and servers that say nothing. */
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { listenFree } from "./listen-free.ts";

function closeAll(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}

export interface TcpLink {
  readonly port: number;
  /** Connections that have been made. */
  connections(): number;
  /** How often a client has said something after it was answered. */
  roundTrips(): number;
  /** Connections that are open now. */
  open(): number;
  /** From now on nothing passes, in neither direction, when so many more bytes of clients have. */
  freezeAfter(bytes: number): void;
  /** The same, but the connections are reset. */
  cutAfter(bytes: number): void;
  /** Resets the connection that a client says something on next, and no other. */
  cutOnce(): void;
  /** From now on nothing passes and nothing gets lost, as between two halves of a network; new connections wait too. */
  hold(): void;
  /** Each piece takes so long. */
  slowDown(delayMs: number): void;
  /** All as it was, and what was held goes on. */
  thaw(): void;
  end(): Promise<void>;
}

interface Weather {
  delayMs: number;
  left: number;
  isCut: boolean;
  isOnce: boolean;
  isHeld: boolean;
}

interface Talk {
  isAnswered: boolean;
  roundTrips: number;
}

async function pauseUntil(due: number): Promise<void> {
  const left = due - performance.now();
  if (left > 0) await pause(left);
}

interface Way {
  readonly weather: Weather;
  readonly isOfClient: boolean;
  readonly talk: Talk;
}

function carry(from: Socket, to: Socket, { weather, isOfClient, talk }: Way): void {
  let last = Promise.resolve();
  from.on("data", (part: Buffer) => {
    if (isOfClient) {
      weather.left -= part.length;
      if (talk.isAnswered) talk.roundTrips += 1;
      talk.isAnswered = false;
    }
    if (weather.left <= 0) {
      if (weather.isOnce) Object.assign(weather, clear());
      else if (!weather.isCut) return;
      from.resetAndDestroy();
      to.resetAndDestroy();
      return;
    }
    // A long way, not a narrow one: pieces are under way at the same time, and keep their order.
    const due = performance.now() + weather.delayMs;
    last = last
      .then(() => pauseUntil(due))
      .then(() => {
        if (!isOfClient) talk.isAnswered = true;
        to.write(part);
      });
  });
  from.on("end", () => {
    last = last.then(() => void to.end());
  });
  from.on("error", () => to.destroy());
  from.on("close", () => {
    last = last.then(() => void to.destroySoon());
  });
}

const clear = (): Weather => ({
  delayMs: 0,
  left: Number.POSITIVE_INFINITY,
  isCut: false,
  isOnce: false,
  isHeld: false,
});

/** A link to a port of this machine, which may be another one for each connection. */
export async function startLink(to: number | (() => number)): Promise<TcpLink> {
  const weather: Weather = clear();
  const sockets = new Set<Socket>();
  const talks: Talk[] = [];
  // Without a delay: else answers wait for one another for 40 ms, which no link of a server's does.
  const server = createServer({ noDelay: true }, (client) => {
    const talk = { isAnswered: true, roundTrips: 0 };
    talks.push(talk);
    // It does not come to the server, which would have the work of a new connection.
    if (weather.isCut && weather.left <= 0) {
      client.resetAndDestroy();
      return;
    }
    const behind = connect({
      ...{ host: "127.0.0.1", noDelay: true },
      port: typeof to === "number" ? to : to(),
    });
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    }
    carry(client, behind, { weather, talk, isOfClient: true });
    carry(behind, client, { weather, talk, isOfClient: false });
    if (weather.isHeld) for (const socket of [client, behind]) socket.pause();
  });
  return {
    port: await listenFree(server),
    connections: () => talks.length,
    roundTrips: () => talks.reduce((sum, { roundTrips }) => sum + roundTrips, 0),
    open: () => sockets.size / 2,
    freezeAfter: (bytes) => void Object.assign(weather, { left: bytes, isCut: false }),
    cutAfter: (bytes) => void Object.assign(weather, { left: bytes, isCut: true }),
    cutOnce: () => void Object.assign(weather, { left: 0, isOnce: true }),
    hold: () => {
      weather.isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    slowDown: (delayMs) => void Object.assign(weather, { delayMs }),
    thaw: () => {
      Object.assign(weather, clear());
      for (const socket of sockets) socket.resume();
    },
    end: () => closeAll(server, sockets),
  };
}

/** Takes connections and never says a word. */
export async function startBlackHole(): Promise<{ readonly port: number; end(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).resume();
  });
  return { port: await listenFree(server), end: () => closeAll(server, sockets) };
}
