/** What was done with a delivery, by whom and why: asked for again, as all before, or given up. Frozen: never change it. */
export const sql = `
alter table delivery_repeats add column action text not null default 'again';
alter table delivery_repeats add column asked_by text;
alter table delivery_repeats add column reason text;
`;
