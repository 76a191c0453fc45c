/** Incidents, what was reported of them to whom, and the notices that were sent. Frozen: never change it. */
export const sql = `
create table incidents (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  kind text not null, cause text not null, opened_at bigint not null, seen_at bigint not null,
  closed_at bigint, reopened integer not null default 0, count bigint not null,
  level integer not null, summary text not null, remedy text not null, samples text not null
);
create unique index incidents_open on incidents (company_id, kind, cause) where closed_at is null;
create index incidents_by_cause on incidents (company_id, kind, cause, id);
create index incidents_closed on incidents (closed_at) where closed_at is not null;
create table incident_reports (
  incident_id integer not null references incidents (id),
  audience_id integer not null references companies (id),
  state text not null, level integer not null, reported_at bigint not null,
  constraint incident_reports_key primary key (incident_id, audience_id)
) without rowid;
create table alert_notices (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  subject text not null, text text not null, body text not null, created_at bigint not null
);
create index alert_notices_by_age on alert_notices (company_id, created_at);
create index files_refused_at on files (company_id, decided_at) where state = 'refused';
`;
