/**
 * The floor of reads: a bare server that answers each path with bytes it has in memory, under the headers of the daemon.
 * Usage: gateway-read-floor.ts FILE, a JSON object of paths and bodies; prints its port.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const bodies = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Record<string, string>;
const answers = new Map(Object.entries(bodies).map(([path, body]) => [path, Buffer.from(body)]));

const server = createServer((request, response) => {
  const body = answers.get(request.url ?? "");
  if (body === undefined) {
    response.writeHead(404, { "content-length": 0 }).end();
    return;
  }
  const headers = {
    "x-request-id": "aaaaaaaa0001",
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-length": body.length,
  };
  response.writeHead(200, headers).end(body);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.stdout.write(`${address.port}\n`);
});
