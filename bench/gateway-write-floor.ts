/**
 * The floor of writes: one process that parses and checks each stop with the same compiled schema, writes the same row
 * into a table with the same indexes, and answers after the commit. All requests that wait at one moment share one.
 * Usage: gateway-write-floor.ts DIRECTORY; prints its port.
 */
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { normaliseStop } from "../src/domain/stop/normalise-stop.ts";
import { type Stop, validateStop } from "../src/domain/stop/stop.ts";
import { openStore } from "../src/store/database/database.ts";
import { openSqlite } from "../src/store/database/sqlite-dialect.ts";
import { listenAndTell } from "./support/listen-and-tell.ts";

const directory = process.argv[2] ?? "";
// The store makes the tables, with the same indexes.
await (await openStore(directory)).close();
const database = openSqlite(join(directory, "dropgate.db"), { isNew: false });
database.exec("insert into companies (id, code, code_key, created_at) values (1, 'ACME', 'acme', 0)");
const save = database.prepare(
  `insert into stops (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, shipment_nbr, body, execution,
   created_at, updated_at) values (1, ?, ?, '10', '00', ?, ?, '{}', ?, ?)`,
);

interface Waiting {
  readonly stops: readonly Stop[];
  readonly response: ServerResponse;
}

let waiting: Waiting[] = [];

function answer(response: ServerResponse, status: number, text: string): void {
  const headers = {
    "x-request-id": "aaaaaaaa0001",
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-length": text.length,
  };
  response.writeHead(status, headers).end(text);
}

function commitAll(): void {
  const group = waiting;
  waiting = [];
  const now = Date.now();
  database.exec("begin immediate");
  for (const { stops } of group) {
    for (const stop of stops) {
      const { stopNbr, shipmentNbr = null } = stop;
      save.run(stopNbr, stopNbr.toLowerCase(), shipmentNbr, JSON.stringify(stop), now, now);
    }
  }
  database.exec("commit");
  for (const { response } of group) answer(response, 200, '{"status":"Success"}');
}

function take(bytes: Buffer, response: ServerResponse): void {
  const { stops } = JSON.parse(bytes.toString("utf8")) as { stops: unknown[] };
  const canonical = stops.map(normaliseStop);
  const isValid = canonical.every((stop, index) => validateStop(stop, `stops[${index}]`).length === 0);
  if (!isValid) {
    answer(response, 400, '{"status":"Failed"}');
    return;
  }
  if (waiting.length === 0) setImmediate(commitAll);
  waiting.push({ stops: canonical as Stop[], response });
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request
    .on("data", (chunk: Buffer) => chunks.push(chunk))
    .on("end", () => take(Buffer.concat(chunks), response));
});
listenAndTell(server);
