/**
 * Indexes by which old events of a company, and requests for what was done again, are found.
 * Frozen: never change it.
 */
export const sql = `
create index recorded_events_by_age on recorded_events (company_id, recorded_at);
create index file_repeats_by_age on file_repeats (asked_at);
create index delivery_repeats_by_age on delivery_repeats (asked_at);
delete from retention_marks where kind = 'events';
`;
