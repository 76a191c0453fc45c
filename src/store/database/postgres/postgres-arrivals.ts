/**
 * Files that nodes enter for one another, in a session of its own: who enters them does not wait for what the node writes for its
 * own companies. What comes while a transaction is under way goes with the next one. None leaves a mark (`commit-marks.ts`): one
 * that was not answered has failed, and whoever tries again meets the entries that it has perhaps made.
 *
 *   asked ──> begin, insert, look (one round trip) ──all may stay──> commit ──> entered
 *                ^                  └──some are gone, or being filed──> rollback ─┐
 *                └──────────────────── the others ────────────────────────────────┘
 *
 * The insert waits for whoever decides about an entry of the same source at that moment; so the look comes after it, with what is
 * committed by then.
 */
import { decidedStates } from "../../../domain/files/file-state.ts";
import { isPassingStoreError } from "../../../lib/store-error.ts";
import type { NewFile } from "../../../domain/files/new-file.ts";
import type { ArrivalTable, CompanyArrivals, EnteredAs } from "../../cluster/arrivals.ts";
import type { PostgresSession, SessionQuery } from "./postgres-session.ts";
import { checkValues } from "./postgres-values.ts";

type IsThere = Parameters<ArrivalTable["enter"]>[1];

/** A file that is to be entered, with what becomes of it. */
interface Entering {
  readonly file: NewFile;
  readonly isThere: IsThere;
  end: EnteredAs | undefined;
}

interface Asked {
  readonly entering: readonly Entering[];
  resolve(ends: readonly EnteredAs[]): void;
  reject(error: unknown): void;
}

/** The owner reads the others later. */
const readAtOnce = 4_096;
/** Files of one transaction, unless they are asked for together: it bounds how long the first of them waits for the last. */
const enteredAtOnce = 256;

const statements = {
  enter: `with given as (select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
      $7::bigint[], $8::bigint[], $9::bigint[], $10::text[])
      as given (company_id, name, name_time, size, channel, user_name, received_at, began_at, entered_at, source)),
    made as (insert into files (company_id, name, name_time, size, channel, user_name, received_at, began_at, entered_at,
        source, location, is_filed, state, reasons, records_created, records_updated, records_deleted)
      select company_id, name, name_time, size, channel, user_name, received_at, began_at, entered_at,
        source, source, 0, 'waiting', '[]', 0, 0, 0 from given order by source
      on conflict (company_id, source) where state = 'waiting' and is_filed = 0 do nothing returning id, company_id, name, source),
    told as (insert into arrivals (company_id, file_id, name) select company_id, id, name from made)
    select company_id, source from made`,
  beingFiled: `select company_id, source from files where company_id = any($1::bigint[])
    and state in (${decidedStates.map((state) => `'${state}'`).join(", ")}) and is_filed = 0 and source = any($2::text[])`,
  ofNode: `select arrivals.company_id, file_id from arrivals join leases on leases.company_id = arrivals.company_id
    where owner = $1 and not arrivals.company_id = any($2::bigint[]) limit ${readAtOnce}`,
  ofCompany: `select file_id from arrivals where company_id = $1 limit ${readAtOnce}`,
  remove: `delete from arrivals using unnest($1::bigint[], $2::bigint[], $3::bigint[]) as given (of_company, of_file, of_epoch)
    where company_id = of_company and file_id = of_file
      and exists (select from lanes where lanes.company_id = of_company and epoch = of_epoch)`,
} as const;

type Name = keyof typeof statements;

function queryOf(name: Name, values: readonly unknown[]) {
  return { text: statements[name], values, name: `arrivals_${name}` };
}

function valuesOf(file: NewFile): readonly unknown[] {
  return [
    ...[file.companyId, file.name, file.nameTime, file.size, file.channel, file.userName, file.receivedAt],
    ...[file.beganAt ?? null, file.enteredAt ?? null, file.location],
  ];
}

const keyOf = (companyId: number, source: string) => `${companyId} ${source}`;
const sourceOf = ({ file }: Entering) => keyOf(file.companyId, file.location);

export interface ArrivalSessions {
  /** In which files are entered. */
  readonly entering: PostgresSession;
  /** In which they are read. */
  readonly reading: PostgresSession;
  /** What a transaction begins with that enters files: nothing but where units of work are checked. */
  readonly before?: SessionQuery | undefined;
  /** Called with every error of a statement by which files are entered. */
  readonly onFault: (error: unknown) => void;
}

export class PostgresArrivals implements ArrivalTable {
  readonly #sessions: ArrivalSessions;
  readonly #waiting: Asked[] = [];
  #isUnderWay = false;

  constructor(sessions: ArrivalSessions) {
    this.#sessions = sessions;
  }

  async enter(files: readonly NewFile[], isThere: IsThere): Promise<readonly EnteredAs[]> {
    // One with a value that is refused must not take others with it.
    for (const file of files) checkValues(valuesOf(file));
    const entering = files.map((file): Entering => ({ file, isThere, end: undefined }));
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ entering, resolve, reject });
      if (this.#isUnderWay) return;
      this.#isUnderWay = true;
      void this.#drain();
    });
  }

  async ofNode(node: string, without: readonly number[]): Promise<readonly CompanyArrivals[]> {
    const { rows } = await this.#sessions.reading.query(queryOf("ofNode", [node, without]));
    const byCompany = Map.groupBy(rows, (row) => Number(row["company_id"]));
    return [...byCompany].map(([companyId, own]) => ({ companyId, fileIds: own.map(fileIdOf) }));
  }

  async ofCompany(companyId: number): Promise<readonly number[]> {
    const { rows } = await this.#sessions.reading.query(queryOf("ofCompany", [companyId]));
    return rows.map(fileIdOf);
  }

  async remove(inLine: Parameters<ArrivalTable["remove"]>[0]): Promise<void> {
    const rows = inLine.flatMap(({ companyId, fileIds, epoch }) =>
      fileIds.map((fileId) => ({ companyId, fileId, epoch })),
    );
    const columns = (["companyId", "fileId", "epoch"] as const).map((name) => rows.map((row) => row[name]));
    await this.#sessions.reading.query(queryOf("remove", columns));
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#enterTogether(this.#takeWaiting());
    }
    this.#isUnderWay = false;
  }

  #takeWaiting(): readonly Asked[] {
    let [asked, files] = [0, 0];
    for (const { entering } of this.#waiting) {
      files += entering.length;
      if (asked > 0 && files > enteredAtOnce) break;
      asked += 1;
    }
    return this.#waiting.splice(0, asked);
  }

  /** When they cannot be entered, for a fault that does not pass, each is tried by itself. */
  async #enterTogether(asked: readonly Asked[]): Promise<void> {
    try {
      await this.#enterAll(asked.flatMap(({ entering }) => entering));
    } catch (error) {
      if (asked.length === 1 || isPassingStoreError(error)) for (const { reject } of asked) reject(error);
      else for (const one of asked) await this.#enterTogether([one]);
      return;
    }
    for (const { entering, resolve } of asked) resolve(entering.map(({ end }) => end ?? "entered"));
  }

  async #enterAll(all: readonly Entering[]): Promise<void> {
    for (let open = all; open.length > 0; ) {
      await this.#enterOnce(open);
      const stay = open.filter(({ end }) => end === undefined);
      if (stay.length === open.length) return;
      open = stay;
    }
  }

  /** Commits all, or none of them: then those that cannot stay have their end. */
  async #enterOnce(all: readonly Entering[]): Promise<void> {
    const { entering: session, onFault } = this.#sessions;
    try {
      await session.begin();
      const [made, beingFiled] = await this.#insertAndLook(all);
      const isMade = (one: Entering) => made.has(sourceOf(one));
      const look = async (one: Entering) => {
        if (!(await one.isThere(one.file))) one.end = "gone";
        else if (beingFiled.has(sourceOf(one))) one.end = "being filed";
      };
      await Promise.all(all.filter(isMade).map(look));
      if (all.every(({ end }) => end === undefined)) await session.commit();
      else await session.rollback();
    } catch (error) {
      onFault(error);
      await session.rollback();
      throw error;
    }
  }

  /** The sources of those that were entered, and those of entries that are decided and not filed. Both go with the begin. */
  async #insertAndLook(all: readonly Entering[]): Promise<readonly [Set<string>, Set<string>]> {
    const { entering: session, before } = this.#sessions;
    const values = all.map(({ file }) => valuesOf(file));
    const columns = (values[0] ?? []).map((_, at) => values.map((row) => row[at]));
    const [companies, sources] = [columns[0] ?? [], columns.at(-1) ?? []];
    if (before !== undefined) await session.query(before);
    const answers = await Promise.all([
      session.askWithBegin(queryOf("enter", columns)),
      session.askWithBegin(queryOf("beingFiled", [[...new Set(companies)], sources])),
    ]);
    const [made, beingFiled] = answers.map(
      ({ rows }) => new Set(rows.map((row) => keyOf(Number(row["company_id"]), String(row["source"])))),
    );
    return [made ?? new Set(), beingFiled ?? new Set()];
  }
}

function fileIdOf(row: Readonly<Record<string, unknown>>): number {
  return Number(row["file_id"]);
}
