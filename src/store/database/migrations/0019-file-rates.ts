/** How many files a company had in each minute and hour, and how long they took to their receipts. Frozen: never change it. */
export const sql = `
create table file_rates (
  company_id integer not null references companies (id),
  step_minutes integer not null, at bigint not null,
  applied bigint not null, refused bigint not null, others bigint not null, delays text not null,
  constraint file_rates_key primary key (company_id, step_minutes, at)
) without rowid;
`;
