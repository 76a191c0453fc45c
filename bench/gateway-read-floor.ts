/**
 * The floor of reads: a bare server that looks the row of the path up in the daemon's own database, by the same driver and
 * with the same settings, and answers with the text that it finds, under the headers of the daemon. It signs nobody in.
 * Usage: gateway-read-floor.ts DIRECTORY, the state directory of a daemon; prints its port.
 */
import { createServer } from "node:http";
import { join } from "node:path";
import { openSqlite } from "../src/store/database/sqlite-dialect.ts";
import { listenAndTell } from "./support/listen-and-tell.ts";

const database = openSqlite(join(process.argv[2] ?? "", "dropgate.db"), { isNew: false });
const findStop = database.prepare("select id, body from stops where company_id = 1 and stop_nbr = ?");
const findLoad = database.prepare("select id, body from loads where company_id = 1 and load_nbr = ?");
const findStops = database.prepare("select id, body from stops where load_id = ? order by load_position");

interface Row {
  readonly id: number;
  readonly body: string;
}

function documentOf(kind: string | undefined, number: string | undefined): string | undefined {
  const row = (kind === "stop" ? findStop : findLoad).get(number) as Row | undefined;
  if (row === undefined || kind === "stop") return row && `{"Stop":{"stop":${row.body}}}`;
  const stops = (findStops.all(row.id) as Row[]).map(({ body }) => `{"stop":${body}}`);
  return `{"Load":{"loadHeader":${row.body},"stops":[${stops.join(",")}]}}`;
}

const server = createServer((request, response) => {
  const [, , kind, , number] = (request.url ?? "").split("/");
  const text = documentOf(kind, number);
  if (text === undefined) {
    response.writeHead(404, { "content-length": 0 }).end();
    return;
  }
  // A long text is encoded chunk by chunk when it is not made bytes first.
  const body = Buffer.from(text);
  const headers = {
    "x-request-id": "aaaaaaaa0001",
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-length": body.length,
  };
  response.writeHead(200, headers).end(body);
});
listenAndTell(server);
