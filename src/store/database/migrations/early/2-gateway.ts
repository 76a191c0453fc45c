/** Adds loads, orders, customers, imports and documents; profiles go from users to memberships. Frozen: never change it. */
export const sql = `
alter table users drop column profile;
create table new_memberships (
  company_id integer not null references companies (id),
  user_id integer not null references users (id),
  user_name text not null, roles text not null, profile text not null, email text, cdl_number text,
  full_name text,
  constraint memberships_key primary key (company_id, user_id),
  constraint memberships_name unique (company_id, user_name)
);
insert into new_memberships (
  company_id, user_id, user_name, roles, profile
) select
  company_id, user_id, user_name, roles, '{}'
  from memberships;
drop table memberships;
alter table new_memberships rename to memberships;
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
create table loads (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  load_nbr text not null, load_status integer not null, carrier_code text, assignment_criteria text,
  driver_user_id integer references users (id),
  driver text not null, reference text, seal_nbr text, body text not null, execution text not null,
  created_at bigint not null, updated_at bigint not null,
  constraint loads_number unique (company_id, load_nbr)
);
create index loads_by_status on loads (company_id, load_status);
create index loads_by_driver_user_id on loads (company_id, driver_user_id)
  where driver_user_id is not null;
create index loads_by_reference on loads (company_id, reference) where reference is not null;
create index loads_by_seal_nbr on loads (company_id, seal_nbr) where seal_nbr is not null;
create table new_stops (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  stop_nbr text not null, stop_nbr_key text not null, stop_status text not null,
  receive_status text not null, receive_dttm text, carrier_code text, assignment_criteria text,
  shipment_nbr text, seal_nbr text, bol text, reference1 text, reference2 text, body text not null,
  execution text not null, file_time bigint,
  load_id integer references loads (id),
  load_position integer, created_at bigint not null, updated_at bigint not null,
  constraint stops_number unique (company_id, stop_nbr)
);
insert into sqlite_sequence (name, seq) select 'new_stops', seq from sqlite_sequence where name = 'stops';
insert into new_stops (
  id, company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, receive_dttm,
  carrier_code, assignment_criteria, shipment_nbr, seal_nbr, bol, reference1, reference2, body,
  execution, file_time, created_at, updated_at
) select
  id, company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, receive_dttm,
  carrier_code, assignment_criteria, shipment_nbr, seal_nbr, bol, reference1, reference2, body,
  execution, file_time, created_at, updated_at
  from stops;
drop table stops;
alter table new_stops rename to stops;
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
`;
