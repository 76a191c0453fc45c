/** Adds the further stops of files. Frozen: never change it. */
export const sql = `
create table file_stops (
  company_id integer not null references companies (id),
  stop_nbr text not null,
  file_id integer not null references files (id),
  constraint file_stops_key primary key (company_id, stop_nbr, file_id)
);
`;
