/** Adds the indexes of housekeeping. Frozen: never change it. */
export const sql = `
create index imports_by_age on imports (company_id, received_at);
create index appointments_over on appointments (company_id, updated_at)
  where state in ('released', 'expired');
`;
