/** Adds messages to customers. Frozen: never change it. */
export const sql = `
create table new_outbound_events (
  company_id integer not null references companies (id),
  causes text not null, event_code integer not null,
  constraint outbound_events_key primary key (company_id, causes, event_code)
);
insert into new_outbound_events (company_id, causes, event_code)
  select company_id, 'completion', event_code from outbound_events;
drop table outbound_events;
alter table new_outbound_events rename to outbound_events;
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
`;
