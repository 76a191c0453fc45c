/** Order of the stops of loads, times of appointments, drivers without the app, addresses of companies. Frozen: never change it. */
export const sql = `
alter table companies add column name text;
alter table companies add column addr1 text;
alter table companies add column addr2 text;
alter table companies add column city text;
alter table companies add column state text;
alter table companies add column zip text;
alter table companies add column country text;

alter table memberships add column unable_to_use_app integer not null default 0;
update memberships set unable_to_use_app = 1
  where json_type(profile, '$.unableToUseApp') = 'true';

alter table stops add column stop_seq real;
alter table stops add column listed_position integer;
update stops set listed_position = load_position where load_id is not null;
update stops set stop_seq = (
  select case
    when json_type(body, '$.stopSeq') in ('integer', 'real') then value
    when value glob '[0-9]*' and value glob '*[0-9]' and value not glob '*[^0-9.]*' and value not glob '*.*.*'
      then cast(value as real)
  end
  from (select trim(json_extract(body, '$.stopSeq')) as value)
) where load_id in (select id from loads where load_status < 90);
update stops set load_position = (
  select count(*) from stops as earlier
  where earlier.load_id = stops.load_id and earlier.stop_seq < stops.stop_seq
) where load_id in (
  select load_id from stops where load_id in (select id from loads where load_status < 90)
  group by load_id having count(distinct stop_seq) = count(*)
);

alter table appointments add column time_from text;
alter table appointments add column time_to text;
alter table appointments add column time_zone text;
update appointments set
  time_from = slot_key || ':00',
  time_to = (
    select json_extract(body, '$.to.schedule.timeTo') from stops
    where stops.company_id = appointments.company_id and stop_nbr = order_nbr
      and substr(json_extract(body, '$.to.schedule.timeFrom'), 1, 16) = slot_key
    union all
    select json_extract(body, '$.to.schedule.timeTo') from orders
    where orders.company_id = appointments.company_id and orders.order_nbr = appointments.order_nbr
      and substr(json_extract(body, '$.to.schedule.timeFrom'), 1, 16) = slot_key
  ),
  time_zone = (
    select json_extract(body, '$.to.schedule.timeZone') from stops
    where stops.company_id = appointments.company_id and stop_nbr = order_nbr
      and substr(json_extract(body, '$.to.schedule.timeFrom'), 1, 16) = slot_key
    union all
    select json_extract(body, '$.to.schedule.timeZone') from orders
    where orders.company_id = appointments.company_id and orders.order_nbr = appointments.order_nbr
      and substr(json_extract(body, '$.to.schedule.timeFrom'), 1, 16) = slot_key
  )
where state = 'confirmed';
`;
