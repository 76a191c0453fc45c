/** Adds what drivers report. Frozen: never change it. */
export const sql = `
create table new_loads (
  id integer primary key autoincrement,
  company_id integer not null references companies (id),
  load_nbr text not null, load_status integer not null, carrier_code text, assignment_criteria text,
  driver_user_id integer references users (id),
  driver text not null, reference text, seal_nbr text, body text not null, extra text not null,
  execution text not null, created_at bigint not null, updated_at bigint not null,
  constraint loads_number unique (company_id, load_nbr)
);
insert into sqlite_sequence (name, seq) select 'new_loads', seq from sqlite_sequence where name = 'loads';
insert into new_loads (
  id, company_id, load_nbr, load_status, carrier_code, assignment_criteria, driver_user_id,
  driver, reference, seal_nbr, body, execution, created_at, updated_at, extra
) select
  id, company_id, load_nbr, load_status, carrier_code, assignment_criteria, driver_user_id,
  driver, reference, seal_nbr, body, execution, created_at, updated_at, '{"load":{}}'
  from loads;
drop table loads;
alter table new_loads rename to loads;
create index loads_by_status on loads (company_id, load_status);
create index loads_by_driver_user_id on loads (company_id, driver_user_id)
  where driver_user_id is not null;
create index loads_by_reference on loads (company_id, reference) where reference is not null;
create index loads_by_seal_nbr on loads (company_id, seal_nbr) where seal_nbr is not null;
create table positions (
  load_id integer not null references loads (id),
  at bigint not null, event_dttm text not null, event_tz text not null, latitude real not null,
  longitude real not null, reported_by text not null,
  constraint positions_key primary key (load_id, at)
);
create table reported_events (
  id integer primary key autoincrement,
  load_id integer not null references loads (id),
  stop_nbr text not null, event_code text not null, event_dttm text not null,
  event_tz text not null, latitude real, longitude real, reported_by text not null,
  received_at bigint not null,
  constraint reported_events_once unique (load_id, stop_nbr, event_code, event_dttm)
);
create table route_progress (
  load_id integer not null primary key references loads (id),
  at bigint not null, latitude real not null, longitude real not null, eta_at bigint
);
`;
