/** Entries that share a name, or the name of their receipt: for the rules "once" and of receipts. */
import { type DecidedState, isDecidedState } from "../../domain/files/file-state.ts";
import { mostReceiptNames, namesWithReceiptOf } from "../../domain/files/stop-file-name.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";

type TimeValue = "receivedAt" | "decidedAt";
type SharerRow = Pick<RowOf<"files">, "id" | "name" | "sha256" | "state" | "firstId" | TimeValue>;

/** Another entry whose receipt has the same name: mostly one of the same file name. */
export interface ReceiptSharer extends SharerRow {
  /** It came later than the entry of the query. */
  readonly isNewer: boolean;
}

export type DecidedSharer = ReceiptSharer & { readonly state: DecidedState };

const places = Array.from({ length: mostReceiptNames }, (_, index) => `name${index}` as const);

type SharersKey = { companyId: number } & Record<`name${number}`, string>;

const sharers = prepareQuery<SharersKey, SharerRow>((db, arg) =>
  db
    .selectFrom("files")
    .select(namedColumns("id", "name", "sha256", "state", "first_id", "received_at", "decided_at"))
    .where("company_id", "=", arg("companyId"))
    .where(
      "name",
      "in",
      places.map((place) => arg(place)),
    ),
);

function sharersKey(companyId: number, name: string): SharersKey {
  const names = namesWithReceiptOf(name);
  const key: SharersKey = { companyId };
  for (const [index, place] of places.entries()) key[place] = names[index] ?? name;
  return key;
}

/** The other entries that have their receipt under the same name, whatever their state, by their ids. */
export async function findReceiptSharers(
  read: Transaction | Reader,
  key: { readonly companyId: number; readonly name: string; readonly id: number },
): Promise<readonly ReceiptSharer[]> {
  const rows = await sharers.rows(read, sharersKey(key.companyId, key.name));
  const own = rows.find(({ id }) => id === key.id);
  const isNewer = ({ id, receivedAt: at }: SharerRow) =>
    own !== undefined && (at > own.receivedAt || (at === own.receivedAt && id > own.id));
  return rows
    .filter(({ id }) => id !== key.id)
    .sort((a, b) => a.id - b.id)
    .map((row) => ({ ...row, isNewer: isNewer(row) }));
}

/** All entries that have their receipt under the name that a file of this one has, those that came last first. */
export async function findNamesakes(
  read: Transaction | Reader,
  { companyId, name }: { readonly companyId: number; readonly name: string },
): Promise<readonly number[]> {
  const rows = await sharers.rows(read, sharersKey(companyId, name));
  return rows.map(({ id }) => id).sort((a, b) => b - a);
}

/** Whether the entry is decided. */
export function isDecidedSharer(sharer: ReceiptSharer): sharer is DecidedSharer {
  return isDecidedState(sharer.state);
}
