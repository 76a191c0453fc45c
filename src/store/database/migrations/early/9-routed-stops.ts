/** Adds what route events need of a stop. Frozen: never change it. */
export const sql = `
create table new_stops (
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
insert into sqlite_sequence (name, seq) select 'new_stops', seq from sqlite_sequence where name = 'stops';
insert into new_stops (
  id, company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, receive_dttm,
  carrier_code, assignment_criteria, shipment_nbr, seal_nbr, bol, reference1, reference2, body,
  execution, file_time, load_id, load_position, created_at, updated_at
) select
  id, company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, receive_dttm,
  carrier_code, assignment_criteria, shipment_nbr, seal_nbr, bol, reference1, reference2, body,
  execution, file_time, load_id, load_position, created_at, updated_at
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
`;
