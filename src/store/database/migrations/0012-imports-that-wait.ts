/** An index over the imports whose loads are not all decided. Frozen: never change it. */
export const sql = `
create index imports_unfinished on imports (company_id, received_at, finished_at)
  where finished_at is null;
`;
