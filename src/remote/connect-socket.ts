import { connect, type Socket } from "node:net";
import { networkFault } from "./network-faults.ts";
import { TransferFault } from "./transfer-fault.ts";

export interface SocketPlace {
  readonly host: string;
  readonly port: number;
  readonly connectMs: number;
}

/** Connects, or rejects with a `TransferFault` that says why not. Aborted, it ends at once. */
export function connectSocket({ host, port, connectMs }: SocketPlace, signal: AbortSignal): Promise<Socket> {
  const where = `${host}:${port}`;
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, keepAlive: true });
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
    const fail = (error: Error) => {
      settle();
      socket.destroy();
      reject(networkFault(error, where) ?? error);
    };
    const late = new TransferFault("timeout", `${where}: no connection within ${connectMs} ms.`);
    const timer = setTimeout(() => fail(late), connectMs);
    const abort = () => fail(new TransferFault("connectionLost", `${where}: given up.`));
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    socket.once("error", fail);
    socket.once("connect", () => {
      settle();
      socket.off("error", fail);
      // From here on `close` says that it ended; an error without a listener would end the thread.
      socket.on("error", () => undefined);
      resolve(socket);
    });
  });
}
