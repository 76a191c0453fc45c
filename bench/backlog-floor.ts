/**
 * The floor: one loop in one process that reads, hashes, validates with the same engine, writes the same rows in groups
 * of the same size with the same pragmas, moves the files, writes a receipt for each under a hidden name and renames it, and
 * syncs the folders once a group. The clock starts when so many other files have warmed it up.
 * Usage: backlog-floor.ts COUNT DIRECTORY GROUP WARMUP; prints one line of JSON.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ParseOption, XmlDocument, XsdValidator } from "libxml2-wasm";
import { openStore } from "../src/store/database/database.ts";
import { openSqlite } from "../src/store/database/sqlite-dialect.ts";
import { sampleName, sampleStop } from "./sample-stop.ts";

const count = Number(process.argv[2]);
const directory = process.argv[3] ?? "";
const groupSize = Number(process.argv[4]);
const warmUp = Number(process.argv[5]);

mkdirSync(join(directory, "inbound"), { recursive: true });
mkdirSync(join(directory, "archive"));
mkdirSync(join(directory, "receipts"));
// The store makes the tables, with the same indexes.
await (await openStore(directory)).close();
const database = openSqlite(join(directory, "dropgate.db"), { isNew: false });
database.exec("insert into companies (id, code, code_key, created_at) values (1, 'ACME', 'acme', 0)");
const names: string[] = [];
for (let index = 0; index < warmUp + count; index += 1) {
  const { stopNbr, name } = sampleName(index);
  writeFileSync(join(directory, "inbound", name), sampleStop(stopNbr));
  names.push(name);
}
const schema = XmlDocument.fromBuffer(readFileSync(new URL("../xsd/stop.xsd", import.meta.url)));
const validator = XsdValidator.fromDoc(schema);
const enter = database.prepare(
  `insert into files (company_id, name, name_time, sha256, size, channel, user_name, received_at, state, stop_function,
   stop_nbr, document_id, reasons, records_created, records_updated, records_deleted, entered_at, parsed_at, decided_at,
   filed_at, source, location, is_filed)
   values (1, ?, ?, ?, ?, 'sftp', 'bench', ?, 'applied', '01', ?, ?, '[]', 1, 0, 0, ?, ?, ?, ?, ?, ?, 1)`,
);
const save = database.prepare(
  `insert into stops (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, shipment_nbr, body, execution,
   file_time, created_at, updated_at) values (1, ?, ?, '10', '00', ?, ?, '{}', ?, ?, ?)`,
);

const counts =
  "<Result><RecordsCreated>1</RecordsCreated><RecordsUpdated>0</RecordsUpdated><RecordsDeleted>0</RecordsDeleted></Result>";

function syncFolder(name: string): void {
  const descriptor = openSync(join(directory, name), constants.O_RDONLY | constants.O_DIRECTORY);
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Gives the content of its receipt. */
function applyOne(name: string): string {
  const bytes = readFileSync(join(directory, "inbound", name));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const document = XmlDocument.fromBuffer(bytes, { option: ParseOption.XML_PARSE_NONET });
  try {
    validator.validate(document);
  } finally {
    document.dispose();
  }
  const stopNbr = name.slice(0, name.indexOf("_"));
  const time = Number(name.slice(-19, -4).replace("_", ""));
  const now = Date.now();
  enter.run(
    name,
    time,
    sha256,
    bytes.length,
    now,
    stopNbr,
    name.slice(0, -4),
    ...[now, now, now, now],
    `inbound/${name}`,
    `archive/${name}`,
  );
  save.run(stopNbr, stopNbr, `S${stopNbr}`, bytes.toString("utf8"), time, now, now);
  const file = `Sha256="${sha256}" Received="${new Date(now).toISOString()}" Ledger="${name.slice(0, 16)}"`;
  return `<StopResponse ${file}><DocumentID>${name.slice(0, -4)}</DocumentID><Status>10</Status>${counts}</StopResponse>`;
}

function fileAway(name: string, receipt: string): void {
  renameSync(join(directory, "inbound", name), join(directory, "archive", name));
  const hidden = join(directory, "receipts", ".receipt.tmp");
  writeFileSync(hidden, receipt, { flag: "wx" });
  renameSync(hidden, join(directory, "receipts", name));
}

function workOff(waiting: readonly string[]): void {
  for (let at = 0; at < waiting.length; at += groupSize) {
    const group = waiting.slice(at, at + groupSize);
    database.exec("begin immediate");
    const receipts = group.map(applyOne);
    database.exec("commit");
    for (const [index, name] of group.entries()) fileAway(name, receipts[index] ?? "");
    for (const folder of ["inbound", "archive", "receipts"]) syncFolder(folder);
  }
}

workOff(names.slice(0, warmUp));
const started = performance.now();
workOff(names.slice(warmUp));
const seconds = (performance.now() - started) / 1000;
database.close();
process.stdout.write(`${JSON.stringify({ perSecond: count / seconds, seconds })}\n`);
process.exit(0);
