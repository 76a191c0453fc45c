import type { Server } from "node:net";
import { boundTo, listen } from "../../src/lib/listen.ts";

/** Listens on a free port of the loopback, and tells which. */
export async function listenFree(server: Server): Promise<number> {
  await listen(server, { port: 0, host: "127.0.0.1" });
  return boundTo(server).port;
}
