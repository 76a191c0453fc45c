/**
 * Who was told of each incident, by address: a new one is told of what is open. Those of before are the receivers of the
 * notice by which the audience was told last. A test of alerts does not count as a notice in the hour. Frozen: never
 * change it.
 */
export const sql = `
create table incident_receivers (
  incident_id integer not null references incidents (id),
  audience_id integer not null references companies (id),
  receiver text not null, url_hash text, notice_id integer not null,
  constraint incident_receivers_key primary key (incident_id, audience_id, receiver)
) without rowid;
insert into incident_receivers (incident_id, audience_id, receiver, notice_id)
select r.incident_id, r.audience_id, d.order_key, max(n.id)
from incident_reports r
join alert_notices n on n.company_id = r.audience_id and n.created_at = r.reported_at
join deliveries d on d.kind = 'alert' and d.subject_id = n.id
group by r.incident_id, r.audience_id, d.order_key;
alter table alert_notices add column is_test integer not null default 0;
`;
