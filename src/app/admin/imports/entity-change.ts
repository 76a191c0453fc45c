/** What an import would change in loads and orders, by how they are before it and after it in one unit of work. */
import type { Load } from "../../../domain/load/load.ts";
import type { Stop } from "../../../domain/stop/stop.ts";
import type { Fault } from "../../../lib/errors.ts";
import { applyOrRefuse } from "../../../operations/imports/decide-load.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import { listItemsOfLastImport } from "../../../store/stops/imports.ts";
import { findStoredLoad } from "../../../store/stops/load-queries.ts";
import { stopNumbersOf } from "../../../store/stops/loads.ts";
import { findStoredOrder } from "../../../store/stops/orders.ts";
import { changesOf, type StopChangeView, stopsOf } from "../stops/stop-change.ts";
import { differenceOfStops, type FieldDifference } from "../stops/stop-difference.ts";

/** A load or an order of an import. */
export interface EntityChangeView {
  readonly kind: "load" | "order";
  readonly number: string;
  readonly effect: "created" | "updated" | "none" | "refused";
  /** Why it would be refused when it is applied. */
  readonly faults: readonly Fault[];
  /** At most 50; of an update alone. */
  readonly fields: readonly FieldDifference[];
}

const maxFields = 50;

/** JSON text of what there is; undefined where there is nothing. */
type Shape = string | undefined;

function changeOf(
  entity: Pick<EntityChangeView, "kind" | "number">,
  before: Shape,
  after: Shape,
): EntityChangeView {
  const fields = before === undefined ? [] : differenceOfStops(before, after);
  const effect = before === undefined ? "created" : fields.length === 0 ? "none" : "updated";
  return { ...entity, effect, faults: [], fields: fields.slice(0, maxFields) };
}

/** Orders by their numbers; a cancelled one is made anew by an import. */
export async function ordersOf(
  tx: Transaction,
  companyId: number,
  numbers: readonly string[],
): Promise<ReadonlyMap<string, Shape>> {
  const orders = new Map<string, Shape>();
  for (const orderNbr of numbers) {
    const found = await findStoredOrder(tx, { companyId, orderNbr });
    orders.set(orderNbr, found?.isCancelled === false ? found.body : undefined);
  }
  return orders;
}

/** What has changed in each of the orders. */
export function orderChanges(
  before: ReadonlyMap<string, Shape>,
  after: ReadonlyMap<string, Shape>,
): readonly EntityChangeView[] {
  return [...before.keys()].map((number) =>
    changeOf({ kind: "order", number }, before.get(number), after.get(number)),
  );
}

/** More would keep others waiting: a load is written in the unit of work of all. */
const mostTried = 100;

/** A load as it waits: without a pause between its lines, which no unit of work may have. */
function parsedLoad(text: string): Load {
  const [first = "", ...lines] = text.split("\n");
  const load = JSON.parse(first) as Load;
  return lines.length === 0 ? load : { ...load, stops: lines.map((line) => JSON.parse(line) as Stop) };
}

/** What a host would read of it: its header, its carrier, and its stops in their order. */
async function shapeOfLoad(tx: Transaction, key: { companyId: number; loadNbr: string }): Promise<Shape> {
  const load = await findStoredLoad(tx, key);
  if (load === undefined) return undefined;
  const carrierCode = load.carrierCode ?? undefined;
  const stops = await stopNumbersOf(tx, load.id);
  return JSON.stringify({ loadHeader: JSON.parse(load.body), carrierCode, stops });
}

export interface AppliedLoads {
  readonly loads: readonly EntityChangeView[];
  readonly stops: readonly StopChangeView[];
  /** Loads that were not tried: there are too many. */
  readonly untried: number;
}

/** Applies the loads of the company's import that was entered last, as the background would, and tells what each has changed. */
export async function applyLastImport(
  tx: Transaction,
  { companyId, now, count }: { readonly companyId: number; readonly now: number; readonly count: number },
): Promise<AppliedLoads> {
  const items = await listItemsOfLastImport(tx, companyId, mostTried);
  const read = items.map(({ body, ...item }) => ({ ...item, load: parsedLoad(body) }));
  const numbers = [...new Set(read.flatMap(({ load }) => (load.stops ?? []).map(({ stopNbr }) => stopNbr)))];
  const before = await stopsOf(tx, companyId, numbers);
  const loads: EntityChangeView[] = [];
  for (const { loadNbr, position, load } of read) {
    const key = { companyId, loadNbr };
    const was = await shapeOfLoad(tx, key);
    const { faults } = await applyOrRefuse(tx, { companyId, load, path: `loads[${position}]`, now });
    const entity = { kind: "load", number: loadNbr } as const;
    loads.push(
      faults.length > 0
        ? { ...entity, effect: "refused", faults, fields: [] }
        : changeOf(entity, was, await shapeOfLoad(tx, key)),
    );
  }
  const stops = changesOf(before, await stopsOf(tx, companyId, numbers));
  return { loads, stops, untried: Math.max(0, count - items.length) };
}
