import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { saveOrder } from "../../store/stops/orders.ts";
import { addCompany } from "../users/company-admin.ts";
import { importOrders } from "../imports/import-orders.ts";
import { readOrderDetail } from "./order-detail.ts";
import { rejectOrder } from "./reject-order.ts";

const clock = { now: () => 1_000 };
let directory: string;
let store: Store;
let companyId: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-order-detail-"));
  store = await openFreshStore(directory);
  companyId = (await addCompany({ store, clock }, "ACME")).company.id;
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

async function importOne(order: Record<string, unknown>): Promise<void> {
  const body = { companyCode: "ACME", orders: [order] };
  await importOrders(
    { store, clock, documentsDir: join(directory, "documents") },
    { companyId, companyCode: "ACME", serviceName: "default", body },
  );
}

async function read(orderNbr: string): Promise<unknown> {
  return JSON.parse(await readOrderDetail({ store }, { companyId, orderNbr }));
}

describe("the detail of an order", () => {
  it("is the order as it was sent with the state of its stop, in a list of one", async () => {
    const order = { orderNbr: "O1", weight: 10, comments: [{ commentType: 1 }], colour: "red" };
    await importOne(order);
    const { Order } = (await read("O1")) as { Order: Record<string, unknown>[] };
    expect(Order).toEqual([
      { ...order, orderStatus: "05", stopExecutionInfo: Order[0]?.["stopExecutionInfo"] },
    ]);
    expect(Order[0]?.["stopExecutionInfo"]).toMatchObject({ stopStatus: "05", exceptions: [] });
  });

  it("gives no content of documents back", async () => {
    const document = { documentName: "a.pdf", documentType: 1 };
    await importOne({ orderNbr: "O1", documents: [{ ...document, documentData: "Y29udGVudA==" }] });
    const text = await readOrderDetail({ store }, { companyId, orderNbr: "O1" });
    expect(JSON.parse(text)).toMatchObject({ Order: [{ documents: [document] }] });
    expect(text).not.toContain("documentData");
    expect(text).not.toContain("Y29udGVudA");
  });

  it("of a cancelled order says 99, also when its stop has been sent again", async () => {
    await importOne({ orderNbr: "O1" });
    const body = { orderNbr: "O1", reasonCode: "R" };
    await rejectOrder({ store, clock }, { companyId, companyCode: "ACME", body });
    await store.write("site", async (tx) => {
      await tx.updateTable("stops").set({ stop_status: "10" }).execute();
    });
    const when = { cancelDTTM: "1970-01-01T00:00:01", cancelTimeZone: "UTC" };
    const cancellation = { reasonCode: "R", reasonDesc: "", ...when };
    expect(await read("O1")).toEqual({ Order: [{ orderNbr: "O1", orderStatus: "99", cancellation }] });
  });

  it("of an order without a stop has no state", async () => {
    const body = JSON.stringify({ orderNbr: "O1", orderStatus: "90" });
    await store.write("site", (tx) => saveOrder(tx, { companyId, orderNbr: "O1", body, now: 1 }));
    expect(await read("O1")).toEqual({ Order: [{ orderNbr: "O1", orderStatus: null }] });
  });

  it("of an unknown number, or one of another company, is 922", async () => {
    const other = (await addCompany({ store, clock }, "OTHER")).company.id;
    await importOne({ orderNbr: "O1" });
    for (const query of [
      { companyId, orderNbr: "o1" },
      { companyId: other, orderNbr: "O1" },
    ]) {
      await expect(readOrderDetail({ store }, query)).rejects.toMatchObject({ code: "orderNotFound" });
    }
  });
});
