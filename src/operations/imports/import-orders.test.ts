import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StopStatus } from "../../domain/stop/stop-status.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { findDocument } from "../../store/stops/documents.ts";
import { findStoredOrder } from "../../store/stops/orders.ts";
import { listStopEvents } from "../../store/stops/stop-history.ts";
import { findStoredStop } from "../../store/stops/stop-queries.ts";
import { addCompany } from "../users/company-admin.ts";
import { importOrders } from "./import-orders.ts";
import { defaultImportRules, type ImportRules } from "./import-request.ts";
import { rejectOrder } from "../orders/reject-order.ts";

const clock = { now: () => 1_000 };
const window = { schedule: { timeFrom: "2026-11-6T8:0:0", timeZone: "UTC" } };
let directory: string;
let store: Store;
let companyId: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-orders-"));
  store = await openFreshStore(directory);
  companyId = (await addCompany({ store, clock }, "ACME")).company.id;
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

interface Sending {
  readonly serviceName?: string;
  readonly rules?: Partial<ImportRules>;
}

function send(orders: readonly unknown[], { serviceName = "default", rules }: Sending = {}): Promise<void> {
  const body = { companyCode: "acme", orders };
  const all = { ...defaultImportRules, ...rules };
  return importOrders(
    { store, clock, documentsDir: join(directory, "documents") },
    { companyId, companyCode: "ACME", serviceName, body, rules: all },
  );
}

const readOrder = (orderNbr: string) => findStoredOrder(store.read, { companyId, orderNbr });

async function orderBody(orderNbr: string): Promise<unknown> {
  return JSON.parse((await readOrder(orderNbr))?.body ?? "null");
}

async function stopBody(stopNbr: string): Promise<unknown> {
  return JSON.parse((await findStoredStop(store.read, { companyId, stopNbr }))?.body ?? "null");
}

async function eventsOf(stopNbr: string): Promise<number[]> {
  return (await listStopEvents(store.read, { companyId, stopNbr, limit: 50 })).map(({ code }) => code);
}

async function setStopStatus(stopNbr: string, status: StopStatus): Promise<void> {
  await store.write("site", async (tx) => {
    await tx.updateTable("stops").set({ stop_status: status }).where("stop_nbr", "=", stopNbr).execute();
  });
}

describe("an import of orders", () => {
  it("keeps the order in canonical form, and makes the stop of its number", async () => {
    const order = {
      orderNbr: "O1",
      orderPriority: 3,
      originHub: "H",
      xDock: "A,B",
      weight: "10",
      colour: "red",
    };
    await send([{ ...order, from: { ...window, to: { address: { city: "Ulm" } } } }, { orderNbr: "O2" }]);
    const parties = {
      from: { schedule: { timeFrom: "2026-11-06T08:00:00", timeZone: "UTC" } },
      to: { address: { city: "Ulm" } },
    };
    expect(await orderBody("O1")).toEqual({ ...order, ...parties });
    expect(await stopBody("O1")).toEqual({
      stopNbr: "O1",
      stopPriority: 3,
      hubId: "H",
      weight: "10",
      colour: "red",
      ...parties,
    });
    expect(await readOrder("O1")).toMatchObject({ isCancelled: false, stopStatus: "10" });
    expect(await readOrder("O2")).toMatchObject({ stopStatus: "05" });
    expect(await eventsOf("O1")).toEqual([]);
  });

  it("replaces an order that is there and its stop, which records 7053", async () => {
    await send([{ orderNbr: "O1", weight: "10", bol: "B" }]);
    await send([{ orderNbr: "O1", weight: "20", to: window }]);
    expect(await orderBody("O1")).toMatchObject({ weight: "20" });
    expect(await orderBody("O1")).not.toHaveProperty("bol");
    expect(await readOrder("O1")).toMatchObject({ stopStatus: "10" });
    expect(await eventsOf("O1")).toEqual([7053]);
  });

  it("with the same number twice keeps the later one, of order and stop", async () => {
    await send([
      { orderNbr: "O1", weight: "1" },
      { orderNbr: "O1", weight: "2" },
    ]);
    expect(await orderBody("O1")).toMatchObject({ weight: "2" });
    expect(await stopBody("O1")).toMatchObject({ weight: "2" });
  });

  it("creates a cancelled order anew", async () => {
    await send([{ orderNbr: "O1", to: window }]);
    const body = { orderNbr: "O1", reasonCode: "R" };
    await rejectOrder({ store, clock }, { companyId, companyCode: "ACME", body });
    expect(await readOrder("O1")).toMatchObject({ isCancelled: true, stopStatus: "99" });
    await send([{ orderNbr: "O1", to: window }]);
    expect(await readOrder("O1")).toMatchObject({ isCancelled: false, stopStatus: "10" });
    expect(await eventsOf("O1")).toEqual([7059]);
  });

  it("is refused as a whole with each fault and its path", async () => {
    const faulty = [
      { orderNbr: "GOOD" },
      { bol: "without a number" },
      { orderNbr: "X".repeat(21) },
      { orderNbr: "O4", to: { schedule: { timeFrom: "2026-02-30T08:00:00" } } },
      { orderNbr: "O5", stopDetails: [{ product: true }] },
    ];
    await expect(send(faulty)).rejects.toMatchObject({
      faults: [
        { code: "missing", path: "orders[1].orderNbr" },
        { code: "tooLong", path: "orders[2].orderNbr" },
        { code: "badDate", path: "orders[3].to.schedule.timeFrom" },
        { code: "wrongType", path: "orders[4].stopDetails[0].product" },
      ],
    });
    expect(await readOrder("GOOD")).toBeUndefined();
    expect(await stopBody("GOOD")).toBeNull();
  });

  it("refuses a field of stops that an order does not name when it would break the stop", async () => {
    const assigned = { orderNbr: "O1", stopAssignment: { carrierCode: 7 } };
    await expect(send([assigned])).rejects.toMatchObject({
      faults: [{ code: "wrongType", path: "orders[0].stopAssignment.carrierCode" }],
    });
  });

  it.each([
    ["30", "stopInTransit"],
    ["90", "finalState"],
  ] as const)("is refused as a whole when the stop of an order is %s", async (status, code) => {
    await send([{ orderNbr: "O1", weight: "1" }]);
    await setStopStatus("O1", status);
    await expect(send([{ orderNbr: "O2" }, { orderNbr: "O1", weight: "2" }])).rejects.toMatchObject({
      faults: [{ code, path: "orders[1]", stopNbr: "O1" }],
    });
    expect(await readOrder("O2")).toBeUndefined();
    expect(await orderBody("O1")).toMatchObject({ weight: "1" });
  });

  it("leaves a planned stop planned", async () => {
    await send([{ orderNbr: "O1" }]);
    await setStopStatus("O1", "20");
    await send([{ orderNbr: "O1", weight: "2" }]);
    expect(await readOrder("O1")).toMatchObject({ stopStatus: "20" });
  });

  it("belongs to its company alone", async () => {
    const other = (await addCompany({ store, clock }, "OTHER")).company.id;
    await send([{ orderNbr: "O1" }]);
    expect(await findStoredOrder(store.read, { companyId: other, orderNbr: "O1" })).toBeUndefined();
  });

  it("is refused for an unknown service, too many entries and, if asked for, unknown fields", async () => {
    const orders = [{ orderNbr: "O1" }, { orderNbr: "O2", colour: "red" }];
    await expect(send(orders, { serviceName: "mine" })).rejects.toMatchObject({ code: "unknownService" });
    await expect(send(orders, { rules: { maxEntries: 1 } })).rejects.toMatchObject({ code: "tooLarge" });
    await expect(send(orders, { rules: { unknownFields: "refuse" } })).rejects.toMatchObject({
      faults: [{ code: "wrongType", path: "orders[1].colour" }],
    });
    expect(await readOrder("O1")).toBeUndefined();
  });
});

describe("documents of an order", () => {
  it("have their content in the document store, under one reference in the order and in its stop", async () => {
    const documentData = Buffer.from("a signed order").toString("base64");
    await send([{ orderNbr: "D1", documents: [{ documentName: "order.pdf", documentData }] }]);
    const { documents } = (await orderBody("D1")) as { documents: readonly { reference: string }[] };
    const reference = documents[0]?.reference ?? "";
    expect(documents).toEqual([
      { documentName: "order.pdf", reference: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    ]);
    const stop = await store.read.selectFrom("stops").select("body").executeTakeFirstOrThrow();
    expect(JSON.parse(stop.body)).toMatchObject({ documents: [{ reference }] });
    expect(await findDocument(store.read, companyId, reference)).toMatchObject({
      name: "order.pdf",
      size: 14,
    });
  });

  it("are refused when their content is no base64", async () => {
    const work = send([{ orderNbr: "D1", documents: [{ documentData: "%%%" }] }]);
    await expect(work).rejects.toMatchObject({ faults: [{ path: "orders[0].documents[0].documentData" }] });
  });
});
