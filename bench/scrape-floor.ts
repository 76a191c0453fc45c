/**
 * The floor of a scrape: a bare server with as many numbers in memory as the daemon has series, which makes the same text of
 * them at each request, name by name and number by number, and sends it under the headers of the daemon.
 * Usage: scrape-floor.ts FILE, the answer of a daemon; prints its port.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { listenAndTell } from "./support/listen-and-tell.ts";

/** Text that stays the same, and the number behind it. */
interface Series {
  readonly text: string;
  readonly value: number;
}

const series: Series[] = [];
let comments = "";
for (const line of readFileSync(process.argv[2] ?? "", "utf8")
  .trimEnd()
  .split("\n")) {
  if (line.startsWith("#")) {
    comments += `${line}\n`;
    continue;
  }
  const at = line.lastIndexOf(" ") + 1;
  series.push({ text: comments + line.slice(0, at), value: Number(line.slice(at)) });
  comments = "";
}

const server = createServer((_, response) => {
  let text = "";
  for (const one of series) text += `${one.text}${one.value}\n`;
  const body = Buffer.from(text);
  const headers = {
    "content-type": "text/plain; version=0.0.4; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-length": body.length,
  };
  response.writeHead(200, headers).end(body);
});
listenAndTell(server);
