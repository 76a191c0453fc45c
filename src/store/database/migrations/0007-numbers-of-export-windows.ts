/** The numbers by which exports tell their windows, which count the completions of the export alone. Frozen: never change it. */
export const sql = `
alter table exports add column window_begin integer;
alter table exports add column window_end integer;
`;
