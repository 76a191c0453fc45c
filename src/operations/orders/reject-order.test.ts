import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type StopStatus, stopStatusNames } from "../../domain/stop/stop-status.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { findStoredOrder, saveOrder } from "../../store/stops/orders.ts";
import { listStopEvents } from "../../store/stops/stop-history.ts";
import { findStoredStop } from "../../store/stops/stop-queries.ts";
import { addCompany } from "../users/company-admin.ts";
import { importOrders } from "../imports/import-orders.ts";
import { rejectOrder } from "./reject-order.ts";

const clock = { now: () => Date.UTC(2026, 10, 6, 8, 30) };
let directory: string;
let store: Store;
let companyId: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-reject-order-"));
  store = await openFreshStore(directory);
  companyId = (await addCompany({ store, clock }, "ACME")).company.id;
  const body = { companyCode: "ACME", orders: [{ orderNbr: "O1" }, { orderNbr: "O2" }] };
  await importOrders(
    { store, clock, documentsDir: join(directory, "documents") },
    { companyId, companyCode: "ACME", serviceName: "default", body },
  );
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

function reject(change: Record<string, unknown> = {}, of = companyId): Promise<void> {
  const fields = { orderNbr: "O1", reasonCode: "R1", reasonComments: "no longer wanted", ...change };
  // As it comes over the wire: a field that is undefined is not there.
  const body: unknown = JSON.parse(JSON.stringify(fields));
  return rejectOrder({ store, clock }, { companyId: of, companyCode: "ACME", body });
}

const readOrder = (orderNbr: string) => findStoredOrder(store.read, { companyId, orderNbr });

async function setStopStatus(status: StopStatus): Promise<void> {
  await store.write("site", async (tx) => {
    await tx.updateTable("stops").set({ stop_status: status }).where("stop_nbr", "=", "O1").execute();
  });
}

async function eventsOf(stopNbr: string): Promise<number[]> {
  return (await listStopEvents(store.read, { companyId, stopNbr, limit: 50 })).map(({ code }) => code);
}

const states = Object.keys(stopStatusNames) as StopStatus[];
const openStates: readonly StopStatus[] = ["05", "10"];

describe("deleting an order", () => {
  it.each(openStates)("whose stop is %s cancels both with the reason and records 7059", async (status) => {
    await setStopStatus(status);
    await reject();
    expect(await readOrder("O1")).toMatchObject({ isCancelled: true, stopStatus: "99" });
    const stop = await findStoredStop(store.read, { companyId, stopNbr: "O1" });
    const cancellation = {
      reasonCode: "R1",
      reasonDesc: "no longer wanted",
      cancelDTTM: "2026-11-06T08:30:00",
      cancelTimeZone: "UTC",
    };
    expect(JSON.parse(stop?.execution ?? "")).toEqual({ cancellation });
    const row = await store.read
      .selectFrom("orders")
      .select("cancellation")
      .where("order_nbr", "=", "O1")
      .executeTakeFirstOrThrow();
    expect(JSON.parse(row.cancellation)).toEqual(cancellation);
    expect(await eventsOf("O1")).toEqual([7059]);
    expect(await readOrder("O2")).toMatchObject({ isCancelled: false, stopStatus: "05" });
  });

  it.each(states.filter((state) => state !== "99" && !openStates.includes(state)))(
    "whose stop is %s is refused with 963 and changes nothing",
    async (status) => {
      await setStopStatus(status);
      await expect(reject()).rejects.toMatchObject({ code: "orderNotDeletable" });
      expect(await readOrder("O1")).toMatchObject({ isCancelled: false, stopStatus: status });
      expect(await eventsOf("O1")).toEqual([]);
    },
  );

  it("a second time is refused with 963, also when its stop has been sent again", async () => {
    await reject();
    await expect(reject()).rejects.toMatchObject({ code: "orderNotDeletable" });
    await setStopStatus("10");
    await expect(reject()).rejects.toMatchObject({ code: "orderNotDeletable" });
    expect(await readOrder("O1")).toMatchObject({ stopStatus: "10" });
  });

  it("that has no stop cancels the order alone", async () => {
    await store.write("site", (tx) => saveOrder(tx, { companyId, orderNbr: "O3", body: "{}", now: 1 }));
    await reject({ orderNbr: "O3", reasonComments: undefined });
    expect(await readOrder("O3")).toMatchObject({ isCancelled: true, stopStatus: null });
    expect(await eventsOf("O3")).toEqual([]);
  });

  it("is 922 for an unknown number, a stop without an order, and an order of another company", async () => {
    const other = (await addCompany({ store, clock }, "OTHER")).company.id;
    await store.write("site", async (tx) => {
      await tx.deleteFrom("orders").where("order_nbr", "=", "O2").execute();
    });
    await expect(reject({ orderNbr: "o1" })).rejects.toMatchObject({ code: "orderNotFound" });
    await expect(reject({ orderNbr: "O2" })).rejects.toMatchObject({ code: "orderNotFound" });
    await expect(reject({}, other)).rejects.toMatchObject({ code: "orderNotFound" });
    expect(await findStoredStop(store.read, { companyId, stopNbr: "O2" })).toMatchObject({ status: "05" });
  });

  it("takes 20, 10 and 500 characters and no more", async () => {
    const orderNbr = "N".repeat(20);
    await store.write("site", (tx) => saveOrder(tx, { companyId, orderNbr, body: "{}", now: 1 }));
    await reject({ orderNbr, reasonCode: "R".repeat(10), reasonComments: "c".repeat(500) });
    expect(await readOrder(orderNbr)).toMatchObject({ isCancelled: true });
  });

  it.each([
    ["no number", { orderNbr: undefined }, { code: "missing", path: "orderNbr" }],
    ["a number that is too long", { orderNbr: "N".repeat(21) }, { code: "tooLong", path: "orderNbr" }],
    ["a number that is no text", { orderNbr: 1 }, { code: "wrongType", path: "orderNbr" }],
    ["no reason", { reasonCode: undefined }, { code: "missing", path: "reasonCode" }],
    ["an empty reason", { reasonCode: "" }, { code: "missing", path: "reasonCode" }],
    ["a reason that is too long", { reasonCode: "R".repeat(11) }, { code: "tooLong", path: "reasonCode" }],
    [
      "comments that are too long",
      { reasonComments: "c".repeat(501) },
      { code: "tooLong", path: "reasonComments" },
    ],
    ["another company", { companyCode: "OTHER" }, { code: "companyDiffers", path: "companyCode" }],
  ])("with %s is refused", async (_, change, fault) => {
    await expect(reject(change)).rejects.toMatchObject({ faults: [fault] });
    expect(await readOrder("O1")).toMatchObject({ isCancelled: false });
  });
});
