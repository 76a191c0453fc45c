import type { ListenOptions, Server } from "node:net";

/** Resolves when the server listens, and rejects when it cannot. */
export function listen(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** The address of a server that listens over TCP; port 0 and no address when it does not. */
export function boundTo(server: Server): { readonly port: number; readonly address: string } {
  const bound = server.address();
  return typeof bound === "object" && bound !== null ? bound : { port: 0, address: "" };
}
