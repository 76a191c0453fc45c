import BetterSqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { migrations } from "./migrations.ts";

const at = migrations.findIndex(({ name }) => name === "receivers that were told");

/** Statements for a notice to ACME with a delivery to each address. */
function notice(id: number, createdAt: number, ...addresses: readonly string[]): string {
  const deliveries = addresses.map(
    (to) =>
      `insert into deliveries (guid, company_id, target_id, kind, subject_id, order_key, line_nbr, name, state, due_at,
        created_at) values ('${id} ${to}', 1, 1, 'alert', ${id}, '${to}', 0, 'n', 'delivered', 1, 1);`,
  );
  return `insert into alert_notices (id, company_id, subject, text, body, created_at)
    values (${id}, 1, 's', 't', '{}', ${createdAt});${deliveries.join("\n")}`;
}

function incident(id: number, reportedAt: number): string {
  return `insert into incidents (id, company_id, kind, cause, opened_at, seen_at, count, level, summary, remedy, samples)
    values (${id}, 1, 'deadLetters', 'c${id}', 1, 1, 1, 1, 's', '', '[]');
    insert into incident_reports (incident_id, audience_id, state, level, reported_at) values (${id}, 1, 'open', 1, ${reportedAt});`;
}

it("takes those to whom the last notice of an incident went for told, and no others", () => {
  const database = new BetterSqlite(":memory:");
  for (const { sql } of migrations.slice(0, at)) database.exec(sql);
  database.exec(`insert into companies (id, code, code_key, created_at) values (1, 'ACME', 'acme', 1);
    insert into outbound_targets (id, company_id, name, takes_completions, is_configured) values (1, 1, 'alerts.email', 0, 1);`);
  database.exec([notice(7, 100, "a@x", "old@x"), notice(8, 200, "a@x", "b@x")].join("\n"));
  // Two notices of one moment: a test of alerts, say.
  database.exec(notice(9, 200, "a@x"));
  database.exec([incident(1, 100), incident(2, 200)].join("\n"));
  database.exec(migrations[at]?.sql ?? "");
  const rows = database.prepare("select * from incident_receivers order by incident_id, receiver").all();
  const told = { audience_id: 1, url_hash: null };
  expect(rows).toEqual([
    { ...told, incident_id: 1, receiver: "a@x", notice_id: 7 },
    { ...told, incident_id: 1, receiver: "old@x", notice_id: 7 },
    { ...told, incident_id: 2, receiver: "a@x", notice_id: 9 },
    { ...told, incident_id: 2, receiver: "b@x", notice_id: 8 },
  ]);
  expect(database.prepare("select distinct is_test from alert_notices").all()).toEqual([{ is_test: 0 }]);
});
