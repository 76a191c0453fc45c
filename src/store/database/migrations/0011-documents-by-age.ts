/** Indexes by which old documents, and what may name them, are found without a sort. Frozen: never change it. */
export const sql = `
create index documents_by_age on documents (company_id, created_at);
create index orders_by_change on orders (company_id, updated_at);
create index completions_embedding on completions (company_id, id) where embeds_documents = 1;
`;
