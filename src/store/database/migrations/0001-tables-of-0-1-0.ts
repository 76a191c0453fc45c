/** The schema of 0.1.0. Frozen: never change it. */
export const sql = `
create table companies (
  id integer primary key autoincrement, code text not null, code_key text not null unique,
  created_at bigint not null
);
create table users (
  id integer primary key autoincrement, user_name text not null, password_hash text,
  is_enabled integer not null, must_change_password integer not null, created_at bigint not null,
  updated_at bigint not null
);
create index users_by_name on users (user_name);
create table user_keys (
  id integer primary key autoincrement,
  user_id integer not null references users (id),
  key_type text not null, key_blob text not null, comment text not null, created_at bigint not null,
  constraint user_keys_once unique (user_id, key_blob)
);
create table memberships (
  company_id integer not null references companies (id),
  user_id integer not null references users (id),
  user_name text not null, roles text not null, profile text not null, email text, cdl_number text,
  full_name text,
  constraint memberships_key primary key (company_id, user_id),
  constraint memberships_name unique (company_id, user_name)
);
create index memberships_by_user on memberships (user_id);
create index memberships_by_email on memberships (company_id, email) where email is not null;
create index memberships_by_cdl_number on memberships (company_id, cdl_number)
  where cdl_number is not null;
create index memberships_by_full_name on memberships (company_id, full_name)
  where full_name is not null;
create table user_carriers (
  company_id integer not null references companies (id),
  partner_code text not null,
  user_id integer not null references users (id),
  constraint user_carriers_key primary key (company_id, partner_code, user_id)
);
create table partners (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  partner_code text not null, partner_type text, body text not null, created_at bigint not null,
  updated_at bigint not null,
  constraint partners_code unique (company_id, partner_code)
);
create table loads (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  load_nbr text not null, load_status integer not null, carrier_code text, assignment_criteria text,
  driver_user_id integer references users (id),
  driver text not null, reference text, seal_nbr text, body text not null, extra text not null,
  execution text not null, created_at bigint not null, updated_at bigint not null,
  constraint loads_number unique (company_id, load_nbr)
);
create index loads_by_status on loads (company_id, load_status);
create index loads_by_driver_user_id on loads (company_id, driver_user_id)
  where driver_user_id is not null;
create index loads_by_reference on loads (company_id, reference) where reference is not null;
create index loads_by_seal_nbr on loads (company_id, seal_nbr) where seal_nbr is not null;
create table stops (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  stop_nbr text not null, stop_nbr_key text not null, stop_status text not null,
  receive_status text not null, receive_dttm text, carrier_code text, assignment_criteria text,
  shipment_nbr text, seal_nbr text, bol text, reference1 text, reference2 text, body text not null,
  routed text, execution text not null, file_time bigint,
  load_id integer references loads (id),
  load_position integer, created_at bigint not null, updated_at bigint not null,
  constraint stops_number unique (company_id, stop_nbr)
);
create index stops_by_stop_nbr_key on stops (company_id, stop_nbr_key);
create index stops_by_stop_status on stops (company_id, stop_status);
create index stops_by_shipment_nbr on stops (company_id, shipment_nbr)
  where shipment_nbr is not null;
create index stops_by_seal_nbr on stops (company_id, seal_nbr) where seal_nbr is not null;
create index stops_by_bol on stops (company_id, bol) where bol is not null;
create index stops_by_reference1 on stops (company_id, reference1) where reference1 is not null;
create index stops_by_reference2 on stops (company_id, reference2) where reference2 is not null;
create index stops_by_load on stops (load_id, load_position) where load_id is not null;
create table orders (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  order_nbr text not null, body text not null, is_cancelled integer not null,
  cancellation text not null, created_at bigint not null, updated_at bigint not null,
  constraint orders_number unique (company_id, order_nbr)
);
create table customers (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  account_number text not null, body text not null, created_at bigint not null,
  updated_at bigint not null,
  constraint customers_number unique (company_id, account_number)
);
create table imports (
  id integer primary key autoincrement, guid text not null unique,
  company_id integer not null references companies (id),
  service_name text not null, user_name text not null, received_at bigint not null,
  finished_at bigint
);
create index imports_by_age on imports (company_id, received_at);
create table import_items (
  import_id integer not null references imports (id),
  position integer not null, load_nbr text not null, state text not null, body text,
  reasons text not null, decided_at bigint,
  constraint import_items_key primary key (import_id, position)
);
create index import_items_waiting on import_items (import_id, position) where state = 'waiting';
create table documents (
  company_id integer not null references companies (id),
  guid text not null, sha256 text not null, size bigint not null, name text,
  created_at bigint not null,
  constraint documents_key primary key (company_id, guid)
);
create index documents_by_sha256 on documents (sha256);
create table recorded_events (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  stop_nbr text, load_nbr text, event_code integer not null, recorded_at bigint not null,
  data text not null
);
create index recorded_events_by_stop_nbr on recorded_events (company_id, stop_nbr)
  where stop_nbr is not null;
create index recorded_events_by_load_nbr on recorded_events (company_id, load_nbr)
  where load_nbr is not null;
create table reported_events (
  id integer primary key autoincrement,
  load_id integer not null references loads (id),
  stop_nbr text not null, event_code text not null, event_dttm text not null,
  event_tz text not null, latitude real, longitude real, reported_by text not null,
  received_at bigint not null,
  constraint reported_events_once unique (load_id, stop_nbr, event_code, event_dttm)
);
create table positions (
  load_id integer not null references loads (id),
  at bigint not null, event_dttm text not null, event_tz text not null, latitude real not null,
  longitude real not null, reported_by text not null,
  constraint positions_key primary key (load_id, at)
);
create table route_progress (
  load_id integer not null primary key references loads (id),
  at bigint not null, latitude real not null, longitude real not null, eta_at bigint
);
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
  causes text not null, event_code integer not null,
  constraint outbound_events_key primary key (company_id, causes, event_code)
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
create table messages (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  stop_nbr text not null, event_code integer not null, channel text not null, address text not null,
  facts text not null, created_at bigint not null
);
create index messages_by_stop on messages (company_id, stop_nbr);
create table message_plans (
  company_id integer not null primary key references companies (id),
  plan text not null
);
create table message_etas (
  company_id integer not null references companies (id),
  stop_nbr text not null, load_id integer not null, eta_at bigint not null,
  constraint message_etas_key primary key (company_id, stop_nbr)
);
create table message_opt_outs (
  company_id integer not null references companies (id),
  address_key text not null, created_at bigint not null,
  constraint message_opt_outs_key primary key (company_id, address_key)
);
create table appointments (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  region text not null, slot_key text not null, starts_at bigint not null, order_nbr text,
  address_key text, state text not null, expires_at bigint, created_at bigint not null,
  updated_at bigint not null, quantity bigint not null, weight bigint not null,
  volume bigint not null, service_minutes bigint not null
);
create unique index appointments_by_order on appointments (company_id, order_nbr)
  where state = 'confirmed';
create index appointments_held on appointments (company_id, expires_at) where state = 'held';
create index appointments_held_in_slot on appointments (company_id, region, slot_key, address_key, expires_at)
  where state = 'held';
create index appointments_over on appointments (company_id, updated_at)
  where state in ('released', 'expired');
create table appointment_use (
  company_id integer not null references companies (id),
  region text not null, slot_key text not null, appointments bigint not null,
  quantity bigint not null, weight bigint not null, volume bigint not null,
  service_minutes bigint not null,
  constraint appointment_use_key primary key (company_id, region, slot_key)
);
create table files (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  name text not null, name_time bigint, sha256 text, size bigint not null, channel text not null,
  user_name text, received_at bigint not null, state text not null, stop_function text,
  stop_nbr text, document_id text, reasons text not null, records_created integer not null,
  records_updated integer not null, records_deleted integer not null, decided_at bigint,
  source text not null, location text not null, is_filed integer not null, first_id integer,
  removed_at bigint, removed_by text
);
create index files_by_name on files (company_id, name);
create index files_by_location on files (location);
create index files_by_stop on files (company_id, stop_nbr) where stop_nbr is not null;
create index files_open on files (state, id) where is_filed = 0;
create table file_stops (
  company_id integer not null references companies (id),
  stop_nbr text not null,
  file_id integer not null references files (id),
  constraint file_stops_key primary key (company_id, stop_nbr, file_id)
);
create table remote_files (
  company_id integer not null references companies (id),
  remote text not null, name text not null, size bigint not null, modified text not null,
  sha256 text not null, state text not null, after_file_id bigint not null,
  noted_at bigint not null,
  constraint remote_files_key primary key (company_id, remote, name)
);
`;
