/** The address from which a host fetched or removed a file that was delivered. Frozen: never change it. */
export const sql = `
alter table deliveries add column collected_from text;
alter table deliveries add column removed_from text;
alter table delivery_repeats add column collected_from text;
alter table delivery_repeats add column removed_from text;
`;
