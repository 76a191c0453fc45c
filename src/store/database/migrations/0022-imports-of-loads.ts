/** An index that leads from a load to the imports that had it. Frozen: never change it. */
export const sql = `
create index import_items_by_load on import_items (load_nbr, import_id);
`;
