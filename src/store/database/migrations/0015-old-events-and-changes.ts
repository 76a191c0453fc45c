/**
 * Indexes by which old events of a company, requests for what was done again, and the changes of what is not over are found.
 * Frozen: never change it.
 */
export const sql = `
create index recorded_events_by_age on recorded_events (company_id, recorded_at);
create index file_repeats_by_age on file_repeats (asked_at);
create index delivery_repeats_by_age on delivery_repeats (asked_at);
create index stops_open_by_change on stops (company_id, updated_at)
  where stop_status not in ('80', '90', '91', '99');
create index loads_open_by_change on loads (company_id, updated_at) where load_status not in (90, 99);
delete from retention_marks where kind = 'events';
`;
