/** What deliveries and files were before somebody asked for them again; how remotes stand, and when somebody asked for one. */
export const sql = `
create table delivery_repeats (
  id integer primary key autoincrement,
  delivery_id integer not null references deliveries (id),
  asked_at bigint not null, state text not null, attempts integer not null, last_attempt_at bigint,
  delivered_at bigint, sha256 text, size bigint, fault text, fault_text text,
  collected_at bigint, collected_by text, removed_at bigint, removed_by text
);
create index delivery_repeats_delivery on delivery_repeats (delivery_id);
create table file_repeats (
  id integer primary key autoincrement,
  file_id integer not null references files (id),
  asked_at bigint not null, state text not null, decided_at bigint, reasons text not null
);
create index file_repeats_file on file_repeats (file_id);
create table remote_states (
  company_id integer not null references companies (id),
  remote text not null, polled_at bigint, succeeded_at bigint,
  failures integer not null default 0, paused_until bigint not null default 0,
  fault text, fault_text text, asked_at bigint not null default 0,
  constraint remote_states_key primary key (company_id, remote)
);
`;
