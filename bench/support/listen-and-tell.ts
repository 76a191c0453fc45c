/** The begin of each bare server of the benches. */
import type { Server } from "node:http";

/** Has the server take requests on a free port, and prints that for the bench that has started this process. */
export function listenAndTell(server: Server): void {
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address !== null && typeof address === "object") process.stdout.write(`${address.port}\n`);
  });
}
