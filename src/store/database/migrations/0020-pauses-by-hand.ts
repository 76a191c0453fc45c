/** Targets and remotes that somebody has paused until somebody resumes them; and entries of the audit by their subject. Frozen: never change it. */
export const sql = `
create table hand_pauses (
  company_id integer not null references companies (id), kind text not null, name text not null,
  paused_at bigint not null, paused_by text not null, reason text not null,
  constraint hand_pauses_key primary key (company_id, kind, name)
) without rowid;
create index audit_of_subject on audit (subject, id);
`;
