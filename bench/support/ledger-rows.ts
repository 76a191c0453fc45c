/** Ledgers that would take long to come by honestly. The daemon must not run. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { companyCodeKey } from "../../src/domain/users/company-code.ts";
import { openSqlite } from "../../src/store/database/sqlite-dialect.ts";
import { sampleName, sampleStop } from "../sample-stop.ts";
import { companyCode, userName } from "./sites.ts";

type Database = ReturnType<typeof openSqlite>;

const rowsPerCommit = 20_000;

function companyIdIn(database: Database): number {
  const row = database.prepare("select id from companies where code = ?").get(companyCode);
  return (row as { id: number }).id;
}

function inGroups(database: Database, count: number, insert: (index: number) => void): void {
  for (let at = 0; at < count; at += rowsPerCommit) {
    database.exec("begin immediate");
    for (let index = at; index < Math.min(at + rowsPerCommit, count); index += 1) insert(index);
    database.exec("commit");
  }
}

function nameTimeOf(name: string): number {
  return Number(name.slice(-19, -4).replace("_", ""));
}

/** Companies without users. */
export function addCompanies(stateDir: string, count: number): void {
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  const row = database.prepare("insert into companies (code, code_key, created_at) values (?, ?, ?)");
  inGroups(database, count, (index) => {
    const code = `C${index}`;
    row.run(code, companyCodeKey(code), Date.now());
  });
  database.close();
}

/** Entries of files applied long ago; their bytes are not there. */
export function addAppliedRows(stateDir: string, count: number): void {
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  const companyId = companyIdIn(database);
  const row = database.prepare(
    `insert into files (company_id, name, name_time, sha256, size, channel, user_name, received_at, state,
     stop_function, stop_nbr, document_id, reasons, records_created, records_updated, records_deleted, decided_at,
     source, location, is_filed)
     values (?, ?, ?, ?, 4000, 'sftp', ?, ?, 'applied', '01', ?, ?, '[]', 1, 0, 0, ?, ?, ?, 1)`,
  );
  inGroups(database, count, (index) => {
    const { stopNbr, name } = sampleName(index);
    const at = Date.UTC(2026, 0, 1) + index * 1000;
    const sha256 = createHash("sha256").update(name).digest("hex");
    const day = new Date(at).toISOString().slice(0, 10);
    const folder = `companies/${companyCode}`;
    const places = [`${folder}/inbound/${name}`, `${folder}/archive/${day}/${name}`];
    const documentId = name.slice(0, -4);
    row.run(companyId, name, nameTimeOf(name), sha256, userName, at, stopNbr, documentId, at, ...places);
  });
  database.close();
}

/** Files that a daemon had entered, but not decided about, when it ended. */
export async function addWaitingFiles(stateDir: string, count: number): Promise<void> {
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  const companyId = companyIdIn(database);
  const row = database.prepare(
    `insert into files (company_id, name, name_time, size, channel, user_name, received_at, state, reasons,
     records_created, records_updated, records_deleted, source, location, is_filed)
     values (?, ?, ?, ?, 'sftp', ?, ?, 'waiting', '[]', 0, 0, 0, ?, ?, 0)`,
  );
  inGroups(database, count, (index) => {
    const { stopNbr, name } = sampleName(index);
    const location = `companies/${companyCode}/inbound/${name}`;
    const text = sampleStop(stopNbr);
    writeFileSync(join(stateDir, location), text);
    const receivedAt = Date.UTC(2026, 0, 1) + index;
    row.run(companyId, name, nameTimeOf(name), text.length, userName, receivedAt, location, location);
  });
  database.close();
}
