/** An index over the time of arrival, by which the files of a company are counted. Frozen: never change it. */
export const sql = `
create index files_by_arrival on files (company_id, received_at);
`;
