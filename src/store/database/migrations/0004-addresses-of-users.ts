/** Addresses from which users have signed in. Frozen: never change it. */
export const sql = `
create table sign_in_addresses (
  user_id integer not null references users (id),
  peer text not null,
  last_at bigint not null,
  constraint sign_in_addresses_key primary key (user_id, peer)
) without rowid;
create index sign_in_addresses_by_last_at on sign_in_addresses (last_at);
`;
