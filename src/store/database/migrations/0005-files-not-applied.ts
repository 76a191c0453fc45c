/** An index over the few entries of the ledger that were not applied. Frozen: never change it. */
export const sql = `
create index files_not_applied on files (state, id)
  where state in ('refused', 'duplicate', 'superseded');
`;
