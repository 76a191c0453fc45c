/**
 * How many files of each day were decided how, kept for ever; the reasons of files by their codes; and indexes by which people
 * find files and deliveries. The counts of files that are there are added one by one, so that no memory is needed to sort
 * them. The index of contents goes along with the ids: one in the order of the hashes would write another page for each file.
 * Frozen: never change it.
 */
export const sql = `
create table daily_files (
  company_id integer not null references companies (id),
  day integer not null, state text not null, channel text not null, files bigint not null,
  constraint daily_files_key primary key (company_id, day, state, channel)
) without rowid;
insert into daily_files (company_id, day, state, channel, files)
select company_id, received_at / 86400000, state, channel, 1 from files
where state in ('applied', 'refused', 'duplicate', 'superseded')
on conflict (company_id, day, state, channel) do update set files = files + 1;
create table file_faults (
  company_id integer not null references companies (id),
  code text not null, received_at bigint not null, file_id integer not null,
  constraint file_faults_key primary key (company_id, code, received_at, file_id)
) without rowid;
insert or ignore into file_faults (company_id, code, received_at, file_id)
select f.company_id, json_extract(r.value, '$.code'), f.received_at, f.id
from files f, json_each(f.reasons) r
where f.state in ('refused', 'duplicate', 'superseded') and json_extract(r.value, '$.code') is not null;
create index files_refused_by_arrival on files (company_id, state, received_at)
  where state in ('refused', 'duplicate', 'superseded');
create index files_by_content on files (company_id, id, substr(sha256, 1, 8)) where sha256 is not null;
create index deliveries_by_age on deliveries (company_id, created_at);
`;
