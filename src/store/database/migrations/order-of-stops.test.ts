import BetterSqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { migrations } from "./migrations.ts";

const [tables, change] = migrations;

/** A database of schema 1 with one company, and what the statements put there, after migration 2. */
function migrated(statements: string): BetterSqlite.Database {
  const database = new BetterSqlite(":memory:");
  database.exec(tables?.sql ?? "");
  database.exec("insert into companies (id, code, code_key, created_at) values (1, 'ACME', 'acme', 1)");
  database.exec(statements);
  database.exec(change?.sql ?? "");
  return database;
}

function load(id: number, status: number): string {
  return `insert into loads (id, company_id, load_nbr, load_status, driver, body, execution, extra, created_at, updated_at)
    values (${id}, 1, 'L${id}', ${status}, '{}', '{}', '{}', '{}', 1, 1);`;
}

function stop(stopNbr: string, loadId: number | null, position: number | null, body: object): string {
  return `insert into stops (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, body, execution,
      load_id, load_position, created_at, updated_at)
    values (1, '${stopNbr}', '${stopNbr}', '20', '00', '${JSON.stringify(body)}', '{}', ${loadId}, ${position}, 1, 1);`;
}

it("orders the stops of loads that are still driven by stopSeq where all have distinct numbers", () => {
  const database = migrated(
    [
      ...[load(1, 30), load(2, 30), load(3, 90), load(4, 40)],
      ...[
        stop("A", 1, 0, { stopSeq: 3 }),
        stop("B", 1, 1, { stopSeq: " 01.5" }),
        stop("C", 1, 2, { stopSeq: "2" }),
      ],
      ...[stop("D", 2, 0, { stopSeq: 2 }), stop("E", 2, 1, { stopSeq: "1a" })],
      ...[stop("F", 3, 0, { stopSeq: 2 }), stop("G", 3, 1, { stopSeq: 1 })],
      ...[stop("H", 4, 0, { stopSeq: 2 }), stop("I", 4, 1, { stopSeq: 2 })],
      stop("J", null, null, { stopSeq: 1 }),
    ].join("\n"),
  );
  const rows = database
    .prepare("select stop_nbr, load_position, listed_position, stop_seq from stops order by stop_nbr")
    .raw()
    .all();
  expect(rows).toEqual([
    ["A", 2, 0, 3],
    ["B", 0, 1, 1.5],
    ["C", 1, 2, 2],
    ["D", 0, 0, 2],
    ["E", 1, 1, null],
    ["F", 0, 0, null],
    ["G", 1, 1, null],
    ["H", 0, 0, 2],
    ["I", 1, 1, 2],
    ["J", null, null, null],
  ]);
});

it("takes the times of appointments from their orders and stops, as far as these still have them", () => {
  const appointment = (orderNbr: string) =>
    `insert into appointments (company_id, region, slot_key, starts_at, order_nbr, state, quantity, weight, volume,
        service_minutes, created_at, updated_at)
      values (1, 'R', '2026-11-06T08:00', 1, '${orderNbr}', 'confirmed', 0, 0, 0, 0, 1, 1);`;
  const schedule = {
    timeFrom: "2026-11-06T08:00:00",
    timeTo: "2026-11-06T12:00:00",
    timeZone: "Europe/Berlin",
  };
  const database = migrated(
    [
      ...["S", "O", "X"].map(appointment),
      stop("S", null, null, { to: { schedule } }),
      stop("X", null, null, { to: { schedule: { ...schedule, timeFrom: "2026-11-07T08:00:00" } } }),
      `insert into orders (company_id, order_nbr, body, is_cancelled, cancellation, created_at, updated_at)
        values (1, 'O', '${JSON.stringify({ to: { schedule } })}', 0, '{}', 1, 1);`,
    ].join("\n"),
  );
  const rows = database
    .prepare("select order_nbr, time_from, time_to, time_zone from appointments")
    .raw()
    .all();
  expect(rows).toEqual([
    ["S", "2026-11-06T08:00:00", "2026-11-06T12:00:00", "Europe/Berlin"],
    ["O", "2026-11-06T08:00:00", "2026-11-06T12:00:00", "Europe/Berlin"],
    ["X", "2026-11-06T08:00:00", null, null],
  ]);
});

it("marks the users who are unable to use the app", () => {
  const member = (id: number, profile: object) =>
    `insert into users (id, user_name, is_enabled, must_change_password, created_at, updated_at)
      values (${id}, 'u${id}', 1, 0, 1, 1);
    insert into memberships (company_id, user_id, user_name, roles, profile)
      values (1, ${id}, 'u${id}', '[]', '${JSON.stringify(profile)}');`;
  const database = migrated(
    [member(1, { unableToUseApp: true }), member(2, { unableToUseApp: false }), member(3, {})].join("\n"),
  );
  const rows = database.prepare("select user_id, unable_to_use_app from memberships").raw().all();
  expect(rows).toEqual([
    [1, 1],
    [2, 0],
    [3, 0],
  ]);
});
