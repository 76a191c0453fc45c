/** What was removed because of its age, and where the removal by age stands. Frozen: never change it. */
export const sql = `
alter table files add column pruned_days integer;
alter table files add column pruned_to text;
alter table files add column is_pruning integer not null default 0;
create index files_by_decision on files (company_id, decided_at) where is_filed = 1;
create index files_pruning on files (company_id, id) where is_pruning = 1;
create index file_stops_file on file_stops (file_id);
create table retention_marks (
  company_id integer not null references companies (id),
  kind text not null, decided_at bigint not null, file_id bigint not null,
  constraint retention_marks_key primary key (company_id, kind)
);
create table pruned_entries (
  company_id integer not null primary key references companies (id),
  applied bigint not null, refused bigint not null, duplicate bigint not null,
  superseded bigint not null, decided_until bigint not null, pruned_at bigint not null,
  pruned_days integer not null
);
create table ledger_gaps (
  ids bigint not null
);
insert into ledger_gaps (ids)
  select coalesce((select seq from sqlite_sequence where name = 'files'), 0) - (select count(*) from files);
`;
