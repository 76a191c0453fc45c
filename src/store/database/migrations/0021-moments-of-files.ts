/**
 * When the upload of a file began, when the file was entered, parsed and filed away, and when its receipt was collected first.
 * Columns of the row, which is written at each of these steps anyway; those of files from before are null. Frozen: never
 * change it.
 */
export const sql = `
alter table files add column began_at bigint;
alter table files add column entered_at bigint;
alter table files add column parsed_at bigint;
alter table files add column filed_at bigint;
alter table files add column receipt_collected_at bigint;
alter table files add column receipt_collected_by text;
alter table files add column receipt_collected_over text;
alter table files add column receipt_unread integer not null default 0;
alter table file_repeats add column receipt_collected_at bigint;
alter table file_repeats add column receipt_collected_by text;
`;
