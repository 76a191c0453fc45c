-- The schema after migration 25. Made by schema-dump.test.ts; never edited by hand.

CREATE TABLE alert_notices (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  subject text not null, text text not null, body text not null, created_at bigint not null
, is_test integer not null default 0);
CREATE INDEX alert_notices_by_age on alert_notices (company_id, created_at);

CREATE TABLE appointment_use (
  company_id integer not null references companies (id),
  region text not null, slot_key text not null, appointments bigint not null,
  quantity bigint not null, weight bigint not null, volume bigint not null,
  service_minutes bigint not null,
  constraint appointment_use_key primary key (company_id, region, slot_key)
);

CREATE TABLE appointments (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  region text not null, slot_key text not null, starts_at bigint not null, order_nbr text,
  address_key text, state text not null, expires_at bigint, created_at bigint not null,
  updated_at bigint not null, quantity bigint not null, weight bigint not null,
  volume bigint not null, service_minutes bigint not null
, time_from text, time_to text, time_zone text);
CREATE UNIQUE INDEX appointments_by_order on appointments (company_id, order_nbr)
  where state = 'confirmed';
CREATE INDEX appointments_held on appointments (company_id, expires_at) where state = 'held';
CREATE INDEX appointments_held_in_slot on appointments (company_id, region, slot_key, address_key, expires_at)
  where state = 'held';
CREATE INDEX appointments_over on appointments (company_id, updated_at)
  where state in ('released', 'expired');

CREATE TABLE arrivals (
  company_id integer not null,
  file_id integer not null,
  name text not null,
  primary key (company_id, file_id)
);

CREATE TABLE audit (
  id integer primary key autoincrement,
  at bigint not null, user_id integer, user_name text, company_id integer references companies (id),
  kind text not null, subject text, reason text, before text, after text, address text
);
CREATE INDEX audit_by_age on audit (at);
CREATE INDEX audit_of_company on audit (company_id, id);
CREATE INDEX audit_of_subject on audit (subject, id);
CREATE INDEX audit_of_user on audit (user_id, id);

CREATE TABLE companies (
  id integer primary key autoincrement, code text not null, code_key text not null unique,
  created_at bigint not null
, name text, addr1 text, addr2 text, city text, state text, zip text, country text);

CREATE TABLE completions (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  stop_nbr text not null, name text not null, format integer not null,
  embeds_documents integer not null, trigger_code integer not null, first_event_id integer not null,
  last_event_id integer not null, stop_status text not null, carrier_code text,
  assignment_criteria text, body text not null, execution text not null, load_nbr text,
  driver text not null, created_at bigint not null,
  constraint completions_name unique (company_id, name)
);
CREATE INDEX completions_embedding on completions (company_id, id) where embeds_documents = 1;
CREATE INDEX completions_order on completions (company_id, id);
CREATE INDEX completions_stop on completions (company_id, stop_nbr);

CREATE TABLE console_sessions (
  id_hash text primary key not null, user_id integer not null references users (id), basis text not null,
  created_at bigint not null, seen_at bigint not null, address text not null, agent text not null
) without rowid;
CREATE INDEX console_sessions_by_age on console_sessions (created_at);
CREATE INDEX console_sessions_by_user on console_sessions (user_id);

CREATE TABLE customers (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  account_number text not null, body text not null, created_at bigint not null,
  updated_at bigint not null,
  constraint customers_number unique (company_id, account_number)
);

CREATE TABLE daily_files (
  company_id integer not null references companies (id),
  day integer not null, state text not null, channel text not null, files bigint not null,
  constraint daily_files_key primary key (company_id, day, state, channel)
) without rowid;

CREATE TABLE deliveries (
  id integer primary key autoincrement, guid text not null unique,
  company_id integer not null references companies (id),
  target_id integer not null references outbound_targets (id),
  kind text not null, subject_id integer not null, order_key text not null,
  line_nbr integer not null, name text not null, state text not null, due_at bigint not null,
  attempts integer default 0 not null, first_attempt_at bigint, last_attempt_at bigint,
  delivered_at bigint, fault text, fault_text text, sha256 text, size bigint, collected_at bigint,
  collected_by text, removed_at bigint, removed_by text, created_at bigint not null
, collected_from text, removed_from text);
CREATE INDEX deliveries_by_age on deliveries (company_id, created_at);
CREATE INDEX deliveries_dead on deliveries (target_id, id) where state = 'dead';
CREATE INDEX deliveries_due on deliveries (target_id, due_at, id) where state = 'waiting';
CREATE INDEX deliveries_line on deliveries (target_id, order_key, line_nbr, id)
  where state in ('waiting', 'behind');
CREATE INDEX deliveries_name on deliveries (company_id, name);
CREATE INDEX deliveries_oldest on deliveries (target_id, id) where state in ('waiting', 'behind');
CREATE INDEX deliveries_subject on deliveries (kind, subject_id);

CREATE TABLE delivery_attempts (
  id integer primary key autoincrement,
  delivery_id integer not null references deliveries (id),
  at bigint not null, duration_ms integer not null, fault text not null, fault_text text not null
);
CREATE INDEX delivery_attempts_delivery on delivery_attempts (delivery_id);

CREATE TABLE delivery_repeats (
  id integer primary key autoincrement,
  delivery_id integer not null references deliveries (id),
  asked_at bigint not null, state text not null, attempts integer not null, last_attempt_at bigint,
  delivered_at bigint, sha256 text, size bigint, fault text, fault_text text,
  collected_at bigint, collected_by text, removed_at bigint, removed_by text
, action text not null default 'again', asked_by text, reason text, collected_from text, removed_from text);
CREATE INDEX delivery_repeats_by_age on delivery_repeats (asked_at);
CREATE INDEX delivery_repeats_delivery on delivery_repeats (delivery_id);

CREATE TABLE documents (
  company_id integer not null references companies (id),
  guid text not null, sha256 text not null, size bigint not null, name text,
  created_at bigint not null,
  constraint documents_key primary key (company_id, guid)
);
CREATE INDEX documents_by_age on documents (company_id, created_at);
CREATE INDEX documents_by_sha256 on documents (sha256);

CREATE TABLE export_schedules (
  company_id integer not null references companies (id),
  name text not null, schedule text not null, next_due_at bigint, watermark integer not null,
  constraint export_schedules_key primary key (company_id, name)
);

CREATE TABLE exports (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  name text not null, sequence_nbr integer not null, after_completion_id integer not null,
  last_completion_id integer not null, form text not null, due_at bigint,
  created_at bigint not null, window_begin integer, window_end integer,
  constraint exports_sequence unique (company_id, name, sequence_nbr)
);

CREATE TABLE file_faults (
  company_id integer not null references companies (id),
  code text not null, received_at bigint not null, file_id integer not null,
  constraint file_faults_key primary key (company_id, code, received_at, file_id)
) without rowid;

CREATE TABLE file_rates (
  company_id integer not null references companies (id),
  step_minutes integer not null, at bigint not null,
  applied bigint not null, refused bigint not null, others bigint not null, delays text not null,
  constraint file_rates_key primary key (company_id, step_minutes, at)
) without rowid;

CREATE TABLE file_repeats (
  id integer primary key autoincrement,
  file_id integer not null references files (id),
  asked_at bigint not null, state text not null, decided_at bigint, reasons text not null
, receipt_collected_at bigint, receipt_collected_by text);
CREATE INDEX file_repeats_by_age on file_repeats (asked_at);
CREATE INDEX file_repeats_file on file_repeats (file_id);

CREATE TABLE file_stops (
  company_id integer not null references companies (id),
  stop_nbr text not null,
  file_id integer not null references files (id),
  constraint file_stops_key primary key (company_id, stop_nbr, file_id)
);
CREATE INDEX file_stops_file on file_stops (file_id);

CREATE TABLE files (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  name text not null, name_time bigint, sha256 text, size bigint not null, channel text not null,
  user_name text, received_at bigint not null, state text not null, stop_function text,
  stop_nbr text, document_id text, reasons text not null, records_created integer not null,
  records_updated integer not null, records_deleted integer not null, decided_at bigint,
  source text not null, location text not null, is_filed integer not null, first_id integer,
  removed_at bigint, removed_by text
, pruned_days integer, pruned_to text, is_pruning integer not null default 0, began_at bigint, entered_at bigint, parsed_at bigint, filed_at bigint, receipt_collected_at bigint, receipt_collected_by text, receipt_collected_over text, receipt_unread integer not null default 0);
CREATE INDEX files_by_arrival on files (company_id, received_at);
CREATE INDEX files_by_content on files (company_id, id, substr(sha256, 1, 8)) where sha256 is not null;
CREATE INDEX files_by_decision on files (company_id, decided_at) where is_filed = 1;
CREATE INDEX files_by_location on files (location);
CREATE INDEX files_by_name on files (company_id, name);
CREATE INDEX files_by_stop on files (company_id, stop_nbr) where stop_nbr is not null;
CREATE INDEX files_not_applied on files (state, id)
  where state in ('refused', 'duplicate', 'superseded');
CREATE INDEX files_open on files (state, id) where is_filed = 0;
CREATE INDEX files_pruning on files (company_id, id) where is_pruning = 1;
CREATE INDEX files_refused_at on files (company_id, decided_at) where state = 'refused';
CREATE INDEX files_refused_by_arrival on files (company_id, state, received_at)
  where state in ('refused', 'duplicate', 'superseded');

CREATE TABLE hand_pauses (
  company_id integer not null references companies (id), kind text not null, name text not null,
  paused_at bigint not null, paused_by text not null, reason text not null,
  constraint hand_pauses_key primary key (company_id, kind, name)
) without rowid;

CREATE TABLE import_items (
  import_id integer not null references imports (id),
  position integer not null, load_nbr text not null, state text not null, body text,
  reasons text not null, decided_at bigint,
  constraint import_items_key primary key (import_id, position)
);
CREATE INDEX import_items_by_load on import_items (load_nbr, import_id);
CREATE INDEX import_items_waiting on import_items (import_id, position) where state = 'waiting';

CREATE TABLE imports (
  id integer primary key autoincrement, guid text not null unique,
  company_id integer not null references companies (id),
  service_name text not null, user_name text not null, received_at bigint not null,
  finished_at bigint
);
CREATE INDEX imports_by_age on imports (company_id, received_at);
CREATE INDEX imports_unfinished on imports (company_id, received_at, finished_at)
  where finished_at is null;

CREATE TABLE incident_receivers (
  incident_id integer not null references incidents (id),
  audience_id integer not null references companies (id),
  receiver text not null, url_hash text, notice_id integer not null,
  constraint incident_receivers_key primary key (incident_id, audience_id, receiver)
) without rowid;

CREATE TABLE incident_reports (
  incident_id integer not null references incidents (id),
  audience_id integer not null references companies (id),
  state text not null, level integer not null, reported_at bigint not null,
  constraint incident_reports_key primary key (incident_id, audience_id)
) without rowid;

CREATE TABLE incidents (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  kind text not null, cause text not null, opened_at bigint not null, seen_at bigint not null,
  closed_at bigint, reopened integer not null default 0, count bigint not null,
  level integer not null, summary text not null, remedy text not null, samples text not null
);
CREATE INDEX incidents_by_cause on incidents (company_id, kind, cause, id);
CREATE INDEX incidents_closed on incidents (closed_at) where closed_at is not null;
CREATE UNIQUE INDEX incidents_open on incidents (company_id, kind, cause) where closed_at is null;

CREATE TABLE lanes (
  company_id integer not null primary key,
  epoch integer not null default 0);

CREATE TABLE leases (
  company_id integer not null primary key,
  owner text,
  epoch integer not null default 0,
  expires_at integer not null default 0
, orphaned_at integer);
CREATE INDEX leases_by_owner on leases (owner);

CREATE TABLE ledger_gaps (
  ids bigint not null
);

CREATE TABLE loads (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  load_nbr text not null, load_status integer not null, carrier_code text, assignment_criteria text,
  driver_user_id integer references users (id),
  driver text not null, reference text, seal_nbr text, body text not null, extra text not null,
  execution text not null, created_at bigint not null, updated_at bigint not null,
  constraint loads_number unique (company_id, load_nbr)
);
CREATE INDEX loads_by_driver_user_id on loads (company_id, driver_user_id)
  where driver_user_id is not null;
CREATE INDEX loads_by_reference on loads (company_id, reference) where reference is not null;
CREATE INDEX loads_by_seal_nbr on loads (company_id, seal_nbr) where seal_nbr is not null;
CREATE INDEX loads_by_status on loads (company_id, load_status);

CREATE TABLE memberships (
  company_id integer not null references companies (id),
  user_id integer not null references users (id),
  user_name text not null, roles text not null, profile text not null, email text, cdl_number text,
  full_name text, unable_to_use_app integer not null default 0,
  constraint memberships_key primary key (company_id, user_id),
  constraint memberships_name unique (company_id, user_name)
);
CREATE INDEX memberships_by_cdl_number on memberships (company_id, cdl_number)
  where cdl_number is not null;
CREATE INDEX memberships_by_email on memberships (company_id, email) where email is not null;
CREATE INDEX memberships_by_full_name on memberships (company_id, full_name)
  where full_name is not null;
CREATE INDEX memberships_by_user on memberships (user_id);

CREATE TABLE message_etas (
  company_id integer not null references companies (id),
  stop_nbr text not null, load_id integer not null, eta_at bigint not null,
  constraint message_etas_key primary key (company_id, stop_nbr)
);

CREATE TABLE message_opt_outs (
  company_id integer not null references companies (id),
  address_key text not null, created_at bigint not null,
  constraint message_opt_outs_key primary key (company_id, address_key)
);

CREATE TABLE message_plans (
  company_id integer not null primary key references companies (id),
  plan text not null
);

CREATE TABLE messages (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  stop_nbr text not null, event_code integer not null, channel text not null, address text not null,
  facts text not null, created_at bigint not null
);
CREATE INDEX messages_by_stop on messages (company_id, stop_nbr);

CREATE TABLE nodes (
  name text not null primary key,
  incarnation text not null,
  version text not null,
  schema integer not null,
  address text not null,
  settings text not null,
  started_at integer not null,
  seen_at integer not null,
  is_draining integer not null default 0,
  is_stopped integer not null default 0
);

CREATE TABLE orders (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  order_nbr text not null, body text not null, is_cancelled integer not null,
  cancellation text not null, created_at bigint not null, updated_at bigint not null,
  constraint orders_number unique (company_id, order_nbr)
);
CREATE INDEX orders_by_change on orders (company_id, updated_at);

CREATE TABLE outbound_events (
  company_id integer not null references companies (id),
  causes text not null, event_code integer not null,
  constraint outbound_events_key primary key (company_id, causes, event_code)
);

CREATE TABLE outbound_settings (
  company_id integer not null primary key references companies (id),
  embeds_documents integer not null
);

CREATE TABLE outbound_targets (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  name text not null, takes_completions integer not null, is_configured integer not null,
  failures integer default 0 not null, paused_until bigint default 0 not null,
  open_count integer default 0 not null, added_count integer default 0 not null,
  dead_count integer default 0 not null,
  constraint outbound_targets_name unique (company_id, name)
);

CREATE TABLE partners (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  partner_code text not null, partner_type text, body text not null, created_at bigint not null,
  updated_at bigint not null,
  constraint partners_code unique (company_id, partner_code)
);

CREATE TABLE positions (
  load_id integer not null references loads (id),
  at bigint not null, event_dttm text not null, event_tz text not null, latitude real not null,
  longitude real not null, reported_by text not null,
  constraint positions_key primary key (load_id, at)
);

CREATE TABLE pruned_entries (
  company_id integer not null primary key references companies (id),
  applied bigint not null, refused bigint not null, duplicate bigint not null,
  superseded bigint not null, decided_until bigint not null, pruned_at bigint not null,
  pruned_days integer not null
);

CREATE TABLE recorded_events (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  stop_nbr text, load_nbr text, event_code integer not null, recorded_at bigint not null,
  data text not null
);
CREATE INDEX recorded_events_by_age on recorded_events (company_id, recorded_at);
CREATE INDEX recorded_events_by_load_nbr on recorded_events (company_id, load_nbr)
  where load_nbr is not null;
CREATE INDEX recorded_events_by_stop_nbr on recorded_events (company_id, stop_nbr)
  where stop_nbr is not null;

CREATE TABLE remote_files (
  company_id integer not null references companies (id),
  remote text not null, name text not null, size bigint not null, modified text not null,
  sha256 text not null, state text not null, after_file_id bigint not null,
  noted_at bigint not null,
  constraint remote_files_key primary key (company_id, remote, name)
);

CREATE TABLE remote_states (
  company_id integer not null references companies (id),
  remote text not null, polled_at bigint, succeeded_at bigint,
  failures integer not null default 0, paused_until bigint not null default 0,
  fault text, fault_text text, asked_at bigint not null default 0, answered_asked_at bigint not null default 0,
  constraint remote_states_key primary key (company_id, remote)
);

CREATE TABLE reported_events (
  id integer primary key autoincrement,
  load_id integer not null references loads (id),
  stop_nbr text not null, event_code text not null, event_dttm text not null,
  event_tz text not null, latitude real, longitude real, reported_by text not null,
  received_at bigint not null,
  constraint reported_events_once unique (load_id, stop_nbr, event_code, event_dttm)
);

CREATE TABLE retention_marks (
  company_id integer not null references companies (id),
  kind text not null, decided_at bigint not null, file_id bigint not null,
  constraint retention_marks_key primary key (company_id, kind)
);

CREATE TABLE route_progress (
  load_id integer not null primary key references loads (id),
  at bigint not null, latitude real not null, longitude real not null, eta_at bigint
);

CREATE TABLE sign_in_addresses (
  user_id integer not null references users (id),
  peer text not null,
  last_at bigint not null,
  constraint sign_in_addresses_key primary key (user_id, peer)
) without rowid;
CREATE INDEX sign_in_addresses_by_last_at on sign_in_addresses (last_at);

CREATE TABLE sign_in_bans (
  peer text not null primary key,
  banned_until integer not null,
  times integer not null,
  changed_at integer not null
);
CREATE INDEX sign_in_bans_by_change on sign_in_bans (changed_at);

CREATE TABLE sign_in_faults (
  id integer not null primary key autoincrement,
  peer text not null,
  subject text not null,
  score integer not null,
  at integer not null
);
CREATE INDEX sign_in_faults_by_time on sign_in_faults (at);

CREATE TABLE stops (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  stop_nbr text not null, stop_nbr_key text not null, stop_status text not null,
  receive_status text not null, receive_dttm text, carrier_code text, assignment_criteria text,
  shipment_nbr text, seal_nbr text, bol text, reference1 text, reference2 text, body text not null,
  routed text, execution text not null, file_time bigint,
  load_id integer references loads (id),
  load_position integer, created_at bigint not null, updated_at bigint not null, stop_seq real, listed_position integer,
  constraint stops_number unique (company_id, stop_nbr)
);
CREATE INDEX stops_by_bol on stops (company_id, bol) where bol is not null;
CREATE INDEX stops_by_load on stops (load_id, load_position) where load_id is not null;
CREATE INDEX stops_by_reference1 on stops (company_id, reference1) where reference1 is not null;
CREATE INDEX stops_by_reference2 on stops (company_id, reference2) where reference2 is not null;
CREATE INDEX stops_by_seal_nbr on stops (company_id, seal_nbr) where seal_nbr is not null;
CREATE INDEX stops_by_shipment_nbr on stops (company_id, shipment_nbr)
  where shipment_nbr is not null;
CREATE INDEX stops_by_stop_nbr_key on stops (company_id, stop_nbr_key);
CREATE INDEX stops_by_stop_status on stops (company_id, stop_status);

CREATE TABLE user_carriers (
  company_id integer not null references companies (id),
  partner_code text not null,
  user_id integer not null references users (id),
  constraint user_carriers_key primary key (company_id, partner_code, user_id)
);

CREATE TABLE user_keys (
  id integer primary key autoincrement,
  user_id integer not null references users (id),
  key_type text not null, key_blob text not null, comment text not null, created_at bigint not null,
  constraint user_keys_once unique (user_id, key_blob)
);

CREATE TABLE users (
  id integer primary key autoincrement, user_name text not null, password_hash text,
  is_enabled integer not null, must_change_password integer not null, created_at bigint not null,
  updated_at bigint not null
);
CREATE INDEX users_by_name on users (user_name);
