/** From when on a company had nobody who took over what a dead node had left. Frozen: never change it. */
export const sql = `
alter table leases add column orphaned_at integer;
`;

/** The same for PostgreSQL. */
export const postgres = `
alter table leases add column orphaned_at bigint;
`;
