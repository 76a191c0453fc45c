/** The ledger of the console's bench: files by day, what became of them, and the counts of days. */
import { dayMs } from "../../src/lib/durations.ts";
import { filesOfStop, filesPerDay, stopsOfLoad } from "./console-rows.ts";
import { withoutIndexes } from "../../test/support/without-indexes.ts";
import { numbers, type Planting } from "./planting.ts";

/** A user who sent one file, long ago. */
export const rareUser = "host99";
/** Bytes of what was decided before that are gone. */
const archiveDays = 90;

const fault = (code: string, message: string) =>
  `[${JSON.stringify({ code, message, line: 6, path: "/Stop" })}]`;

/** The kinds of faults that hosts make, most of them the first. */
const faults = [
  fault("xsdMismatch", "Element 'ShipToCty' is not expected here: write ShipToCity."),
  fault("missing", "ShipToZip is missing: add it."),
  fault("badDate", "EarliestStartDTTM is no time: write CCYY-MM-DDThh:mm:ss."),
  fault("stopInTransit", "The stop is in transit: it cannot be updated."),
  fault("badFileName", "The name has no time: end it with _CCYYMMDD_HHMMSS.xml."),
] as const;

const faultOfRow = `case ${faults
  .map(
    (text, index) =>
      `when i % 1000 < ${[600, 750, 850, 950, 1_000][index]} then '${text.replaceAll("'", "''")}'`,
  )
  .join(" ")} end`;

/** Of two hundred, three are refused, two are duplicates and one is superseded. */
const stateOfRow = `case when i % 200 in (1, 67, 133) then 'refused' when i % 200 in (2, 102) then 'duplicate'
  when i % 200 = 3 then 'superseded' else 'applied' end`;

const channelOfRow =
  "case when i % 20 < 12 then 'sftp' when i % 20 < 17 then 'ftp' when i % 20 < 19 then 'remote:carrier' else 'folder' end";

const name = "printf('K%08d_%s.xml', s, strftime('%Y%m%d_%H%M%S', at / 1000, 'unixepoch'))";

/** The nth file and what follows from its number: its stop, its load, when it came. */
const arrivals = (rows: number) => `with ${numbers(rows)}, f as (
  select i, i / ${filesOfStop} as s, i / ${filesOfStop * stopsOfLoad} as l,
    :now - cast((${rows} - i) * ${dayMs / filesPerDay} as integer) as at,
    ${stateOfRow} as state from n)`;

const files = (rows: number) => `${arrivals(rows)}
  insert into files (company_id, name, name_time, sha256, size, channel, user_name, received_at, state, stop_function, stop_nbr,
    document_id, reasons, records_created, records_updated, records_deleted, decided_at, source, location, is_filed, removed_at,
    pruned_days)
  select c.company_id, ${name}, cast(strftime('%Y%m%d%H%M%S', at / 1000, 'unixepoch') as integer), lower(hex(randomblob(32))),
    4000, ${channelOfRow},
    case when i % 20 >= 17 then null when i = ${Math.trunc(rows / 20)} then '${rareUser}' else 'host' || (i % 31) end,
    at, state, '01', printf('K%08d', s), 'D' || i,
    case when state in ('refused', 'superseded') then ${faultOfRow} else '[]' end, 1, 0, 0, at + 40,
    printf('companies/%d/inbound/K%08d.xml', c.company_id, i), printf('companies/%d/archive/K%08d.xml', c.company_id, i), 1,
    case when state = 'applied' and at < :archived then at + ${archiveDays * dayMs} end,
    case when state = 'applied' and at < :archived then ${archiveDays} end
  from f join temp.shares as c on c.slot = l % 100`;

const counts = `insert into daily_files (company_id, day, state, channel, files)
  select company_id, received_at / ${dayMs}, state, channel, count(*) from files
  where state in ('applied', 'refused', 'duplicate', 'superseded') group by 1, 2, 3, 4`;

const codes = `insert into file_faults (company_id, code, received_at, file_id)
  select company_id, reasons ->> '$[0].code', received_at, id from files where state in ('refused', 'superseded')`;

/** One in ten of those that were refused was tried again, in vain. */
const repeats = `insert into file_repeats (file_id, asked_at, state, decided_at, reasons)
  select id, decided_at + 60000, state, decided_at, reasons from files
  where state in ('refused', 'duplicate', 'superseded') and state = 'refused' and id % 10 = 0`;

const marks = `insert or replace into retention_marks (company_id, kind, decided_at, file_id)
  select c.company_id, k.kind, :archived, 0 from (select distinct company_id from temp.shares) as c,
    (select 'archive' as kind union all select 'pruned') as k`;

export function addLedgerRows(planting: Planting): void {
  const { database, rows, now } = planting;
  const archived = now - archiveDays * dayMs;
  withoutIndexes(database, ["files"], () => database.prepare(files(rows)).run({ now, archived }));
  for (const sql of [counts, codes, repeats]) database.exec(sql);
  database.prepare(marks).run({ archived });
}
