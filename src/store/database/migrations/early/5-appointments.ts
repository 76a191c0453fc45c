/** Adds appointments. Frozen: never change it. */
export const sql = `
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
create table appointment_use (
  company_id integer not null references companies (id),
  region text not null, slot_key text not null, appointments bigint not null,
  quantity bigint not null, weight bigint not null, volume bigint not null,
  service_minutes bigint not null,
  constraint appointment_use_key primary key (company_id, region, slot_key)
);
`;
