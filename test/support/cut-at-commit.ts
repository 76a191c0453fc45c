/** A link to PostgreSQL that breaks at a commit: before the server has it, or before the client has its answer. */
import { connect, createServer, type Server, type Socket } from "node:net";
import { listenFree } from "./listen-free.ts";

export interface CommitCutter {
  readonly port: number;
  /** The next commit is lost, or its answer. */
  loseOnce(what: "commit" | "answer"): void;
  hasLost(): boolean;
  end(): Promise<void>;
}

export async function cutAtCommit(port: number): Promise<CommitCutter> {
  let losing: "commit" | "answer" | undefined;
  let hasLost = false;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  };
  const carry = (client: Socket): void => {
    keep(client);
    const server = keep(connect(port, "127.0.0.1"));
    let isCut = false;
    const cut = () => {
      client.resetAndDestroy();
      server.end();
    };
    client.on("data", (part: Buffer) => {
      if (losing !== undefined && part.includes("commit")) {
        [isCut, hasLost] = [true, true];
        const isArriving = losing === "answer";
        losing = undefined;
        if (!isArriving) return cut();
      }
      server.write(part);
    });
    server.on("data", (part: Buffer) => {
      if (isCut) cut();
      else client.write(part);
    });
    client.on("close", () => server.end());
    server.on("close", () => client.destroy());
  };
  const server: Server = createServer(carry);
  return {
    port: await listenFree(server),
    loseOnce(what) {
      losing = what;
    },
    hasLost: () => hasLost,
    end() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
