/** Adds targets, completions, deliveries and exports. Frozen: never change it. */
export const sql = `
create table outbound_targets (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  name text not null, takes_completions integer not null, is_configured integer not null,
  failures integer default 0 not null, paused_until bigint default 0 not null,
  open_count integer default 0 not null, added_count integer default 0 not null,
  dead_count integer default 0 not null,
  constraint outbound_targets_name unique (company_id, name)
);
create table outbound_events (
  company_id integer not null references companies (id),
  event_code integer not null,
  constraint outbound_events_key primary key (company_id, event_code)
);
create table outbound_settings (
  company_id integer not null primary key references companies (id),
  embeds_documents integer not null
);
create table completions (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  stop_nbr text not null, name text not null, format integer not null,
  embeds_documents integer not null, trigger_code integer not null, first_event_id integer not null,
  last_event_id integer not null, stop_status text not null, carrier_code text,
  assignment_criteria text, body text not null, execution text not null, load_nbr text,
  driver text not null, created_at bigint not null,
  constraint completions_name unique (company_id, name)
);
create index completions_stop on completions (company_id, stop_nbr);
create index completions_order on completions (company_id, id);
create table deliveries (
  id integer primary key autoincrement, guid text not null unique,
  company_id integer not null references companies (id),
  target_id integer not null references outbound_targets (id),
  kind text not null, subject_id integer not null, order_key text not null,
  line_nbr integer not null, name text not null, state text not null, due_at bigint not null,
  attempts integer default 0 not null, first_attempt_at bigint, last_attempt_at bigint,
  delivered_at bigint, fault text, fault_text text, sha256 text, size bigint, collected_at bigint,
  collected_by text, removed_at bigint, removed_by text, created_at bigint not null
);
create table delivery_attempts (
  id integer primary key autoincrement,
  delivery_id integer not null references deliveries (id),
  at bigint not null, duration_ms integer not null, fault text not null, fault_text text not null
);
create index delivery_attempts_delivery on delivery_attempts (delivery_id);
create index deliveries_due on deliveries (target_id, due_at, id) where state = 'waiting';
create index deliveries_line on deliveries (target_id, order_key, line_nbr, id)
  where state in ('waiting', 'behind');
create index deliveries_oldest on deliveries (target_id, id) where state in ('waiting', 'behind');
create index deliveries_dead on deliveries (target_id, id) where state = 'dead';
create index deliveries_subject on deliveries (kind, subject_id);
create index deliveries_name on deliveries (company_id, name);
create table export_schedules (
  company_id integer not null references companies (id),
  name text not null, schedule text not null, next_due_at bigint, watermark integer not null,
  constraint export_schedules_key primary key (company_id, name)
);
create table exports (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  name text not null, sequence_nbr integer not null, after_completion_id integer not null,
  last_completion_id integer not null, form text not null, due_at bigint,
  created_at bigint not null,
  constraint exports_sequence unique (company_id, name, sequence_nbr)
);
`;
