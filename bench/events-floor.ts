/**
 * The floor of route events: one process that parses each report, finds the load and the stop by their numbers, writes the
 * same rows, and answers after the commit. All requests that wait at one moment share one.
 * Usage: events-floor.ts DIRECTORY, a state directory with loads under way; prints its port.
 */
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { openSqlite } from "../src/store/database/sqlite-dialect.ts";
import { listenAndTell } from "./support/listen-and-tell.ts";

interface Report {
  readonly eventCode: string;
  readonly routeNbr: string;
  readonly geoStamp: { readonly eventDTTM: string; readonly eventTz: string };
  readonly stopEventData: { readonly stopNbr: string };
}

const database = openSqlite(join(process.argv[2] ?? "", "dropgate.db"), { isNew: false });
const prepare = (sql: string) => database.prepare(sql);
const findLoad = prepare("select * from loads where company_id = 1 and load_nbr = ?");
const findStop = prepare("select * from stops where company_id = 1 and stop_nbr = ?");
const saveReport = prepare(
  `insert into reported_events (load_id, stop_nbr, event_code, event_dttm, event_tz, reported_by, received_at)
   values (?, ?, ?, ?, ?, 'bench', ?)`,
);
const saveStop = prepare("update stops set stop_status = ?, execution = ?, updated_at = ? where id = ?");
const saveLoad = prepare("update loads set load_status = 90, execution = ?, updated_at = ? where id = ?");
const saveEvent = prepare(
  `insert into recorded_events (company_id, stop_nbr, load_nbr, event_code, recorded_at, data) values (1, ?, ?, ?, ?, ?)`,
);
const saveProgress = prepare(
  `insert into route_progress (load_id, at, latitude, longitude, eta_at) values (?, ?, 33.749, -84.388, ?)
   on conflict (load_id) do update set at = excluded.at`,
);
const saveCompletion = prepare(
  `insert into completions (company_id, stop_nbr, name, format, embeds_documents, trigger_code, first_event_id,
   last_event_id, stop_status, body, execution, load_nbr, driver, created_at)
   values (1, ?, ?, 1, 0, 7009, ?, ?, '90', ?, ?, ?, ?, ?)`,
);

interface Row {
  readonly id: number;
  readonly body: string;
  readonly execution: string;
  readonly driver: string;
}

function recordEvent(report: Report, code: number, now: number): number {
  const { routeNbr, geoStamp, stopEventData } = report;
  const isOfStop = code !== 7005;
  const reportedCode = isOfStop ? report.eventCode : undefined;
  const data = JSON.stringify({ ...geoStamp, reportedBy: "bench", reportedCode });
  const stopNbr = isOfStop ? stopEventData.stopNbr : null;
  return Number(saveEvent.run(stopNbr, routeNbr, code, now, data).lastInsertRowid);
}

function arrive(report: Report, load: Row, now: number): void {
  const stop = findStop.get(report.stopEventData.stopNbr) as Row;
  const { eventDTTM: arrivalDTTM, eventTz: arrivalTz } = report.geoStamp;
  saveStop.run("50", JSON.stringify({ to: { arrivalDTTM, arrivalTz } }), now, stop.id);
  recordEvent(report, 7007, now);
  saveProgress.run(load.id, now, now);
}

function confirm(report: Report, load: Row, now: number): void {
  const { stopNbr } = report.stopEventData;
  const stop = findStop.get(stopNbr) as Row;
  const { eventDTTM, eventTz } = report.geoStamp;
  const to = { arrivalDTTM: eventDTTM, arrivalTz: eventTz, confirmedDTTM: eventDTTM };
  const execution = JSON.stringify({ to });
  saveStop.run("90", execution, now, stop.id);
  const first = recordEvent(report, 7007, now);
  const last = recordEvent(report, 7009, now);
  const name = `${stopNbr.toLowerCase()}_20261105_090000.xml`;
  saveCompletion.run(stopNbr, name, first, last, stop.body, execution, report.routeNbr, load.driver, now);
  const done = { ...JSON.parse(load.execution), actualEndDTTM: eventDTTM, actualEndTimeZone: eventTz };
  saveLoad.run(JSON.stringify(done), now, load.id);
  recordEvent(report, 7005, now);
}

let waiting: { readonly report: Report; readonly response: ServerResponse }[] = [];

function commitAll(): void {
  const group = waiting;
  waiting = [];
  const now = Date.now();
  database.exec("begin immediate");
  for (const { report } of group) {
    const load = findLoad.get(report.routeNbr) as Row;
    const { eventDTTM, eventTz } = report.geoStamp;
    saveReport.run(load.id, report.stopEventData.stopNbr, report.eventCode, eventDTTM, eventTz, now);
    if (report.eventCode === "stop.dropoff.arrival") arrive(report, load, now);
    else confirm(report, load, now);
  }
  database.exec("commit");
  const text = '{"status":"Success"}';
  const headers = {
    "x-request-id": "aaaaaaaa0001",
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-length": text.length,
  };
  for (const { response } of group) response.writeHead(200, headers).end(text);
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    if (waiting.length === 0) setImmediate(commitAll);
    waiting.push({ report: JSON.parse(Buffer.concat(chunks).toString("utf8")) as Report, response });
  });
});
listenAndTell(server);
