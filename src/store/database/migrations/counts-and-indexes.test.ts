import BetterSqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { dayMs } from "../../../lib/durations.ts";
import { migrations } from "./migrations.ts";

const at = migrations.findIndex(({ name }) => name.startsWith("counts of days"));
const fault = (code: string) => ({ code, message: `the {"code":"${code}"} of it` });

it("counts the files that were decided by day, state and channel, and finds those with a fault by its code", () => {
  const database = new BetterSqlite(":memory:");
  for (const { sql } of migrations.slice(0, at)) database.exec(sql);
  database.exec(
    `insert into companies (id, code, code_key, created_at) values (1, 'ACME', 'acme', 1), (2, 'B', 'b', 1)`,
  );
  const insert =
    database.prepare(`insert into files (company_id, name, size, channel, received_at, state, reasons,
    records_created, records_updated, records_deleted, source, location, is_filed)
    values (?, 'n', 1, ?, ?, ?, ?, 0, 0, 0, 's', 'l', 1)`);
  const enter = (
    company: number,
    channel: string,
    receivedAt: number,
    state: string,
    ...codes: readonly string[]
  ) =>
    Number(insert.run(company, channel, receivedAt, state, JSON.stringify(codes.map(fault))).lastInsertRowid);
  enter(1, "sftp", 0, "applied");
  enter(1, "sftp", dayMs - 1, "applied");
  enter(1, "ftp", dayMs, "applied");
  const twice = enter(1, "sftp", 7, "refused", "xsdMismatch", "tooLong", "xsdMismatch");
  const other = enter(2, "sftp", 8, "superseded", "superseded");
  enter(1, "sftp", 9, "waiting", "xsdMismatch");
  enter(1, "sftp", 9, "retry", "xsdMismatch");
  enter(1, "sftp", 9, "duplicate");
  database.exec(migrations[at]?.sql ?? "");
  const counted = (company: number, day: number, state: string, channel: string, files: number) => ({
    ...{ company_id: company, day, state, channel, files },
  });
  expect(database.prepare("select * from daily_files").all()).toEqual([
    counted(1, 0, "applied", "sftp", 2),
    counted(1, 0, "duplicate", "sftp", 1),
    counted(1, 0, "refused", "sftp", 1),
    counted(1, 1, "applied", "ftp", 1),
    counted(2, 0, "superseded", "sftp", 1),
  ]);
  expect(database.prepare("select * from file_faults").all()).toEqual([
    { company_id: 1, code: "tooLong", received_at: 7, file_id: twice },
    { company_id: 1, code: "xsdMismatch", received_at: 7, file_id: twice },
    { company_id: 2, code: "superseded", received_at: 8, file_id: other },
  ]);
});
