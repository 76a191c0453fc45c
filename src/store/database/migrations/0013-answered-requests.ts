/** Which request for a poll of a remote was answered by a poll that began after it. Frozen: never change it. */
export const sql = `
alter table remote_states add column answered_asked_at bigint not null default 0;
update remote_states set answered_asked_at = asked_at where polled_at >= asked_at;
`;
