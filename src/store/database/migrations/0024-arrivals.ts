/** Files that nodes enter for one another, as rows of their own. Frozen: never change it. */
export const sql = `
create table arrivals (
  company_id integer not null,
  file_id integer not null,
  name text not null,
  primary key (company_id, file_id)
);
drop index lanes_with_news;
alter table lanes drop column arrived;
alter table lanes drop column seen;
`;

/**
 * The same for PostgreSQL. There each session that enters files counts them in rows of its own besides, so that none waits for
 * another one.
 */
export const postgres = `
create table arrivals (
  company_id bigint not null,
  file_id bigint not null,
  name text collate "C" not null,
  primary key (company_id, file_id)
);
insert into arrivals (company_id, file_id, name)
  select files.company_id, files.id, files.name from lanes join files on files.company_id = lanes.company_id
  where lanes.arrived <> lanes.seen and files.state = 'waiting' and files.is_filed = 0;
drop index lanes_with_news;
alter table lanes drop column arrived;
alter table lanes drop column seen;
alter table entered_files add column counter text collate "C" not null default '';
alter table entered_files drop constraint entered_files_pkey;
alter table entered_files add constraint entered_files_pkey primary key (company_id, counter);
create or replace function count_entered_files() returns trigger language plpgsql as $count$
begin
  insert into entered_files (company_id, counter, entries)
    select company_id, current_setting('application_name') || coalesce(' ' || current_setting('dropgate.counter', true), ''),
      count(*) from entered group by company_id order by company_id
  on conflict (company_id, counter) do update set entries = entered_files.entries + excluded.entries;
  return null;
end
$count$;
`;
