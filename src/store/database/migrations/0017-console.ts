/** Sessions of the console, and who did what in it and why. Frozen: never change it. */
export const sql = `
create table console_sessions (
  id_hash text primary key not null, user_id integer not null references users (id), basis text not null,
  created_at bigint not null, seen_at bigint not null, address text not null, agent text not null
) without rowid;
create index console_sessions_by_user on console_sessions (user_id);
create index console_sessions_by_age on console_sessions (created_at);
create table audit (
  id integer primary key autoincrement,
  at bigint not null, user_id integer, user_name text, company_id integer references companies (id),
  kind text not null, subject text, reason text, before text, after text, address text
);
create index audit_of_company on audit (company_id, id);
create index audit_of_user on audit (user_id, id);
create index audit_by_age on audit (at);
`;
