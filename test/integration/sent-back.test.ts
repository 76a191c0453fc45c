/** What the gateway answers can be sent back: it is taken, and nothing changes. */
import type { TSchema } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { Customer } from "../../src/domain/order/customer.ts";
import { LoadHeader } from "../../src/domain/load/load.ts";
import { Order } from "../../src/domain/order/order.ts";
import { Stop } from "../../src/domain/stop/stop.ts";
import { importCustomers } from "../../src/operations/imports/import-customers.ts";
import { importOrders } from "../../src/operations/imports/import-orders.ts";
import { unassignLoadDriver } from "../../src/operations/loads/assign-load.ts";
import { readCustomerDetail } from "../../src/operations/orders/customer-detail.ts";
import { readOrderDetail } from "../../src/operations/orders/order-detail.ts";
import { GatewayStore } from "../support/gateway-store.ts";
import { type EntityMaker, madeOf, withNulls } from "../support/random-entity.ts";
import { randomOf } from "../support/random-numbers.ts";

const seed = Number(process.env["DROPGATE_WALK_SEED"] ?? 20_261_122);

/** Windows that do not end before they begin, carriers that exist, contents that are base64. */
const given = { timeTo: "2030-01-01T00:00:00", latestDTTM: "2030-01-01T00:00:00", stopAssignment: undefined };
const content = { ...given, documentData: Buffer.from("signed").toString("base64") };
const ofLoads = { ...content, latestStartDttm: "2030-01-01T00:00:00" };

function makersOf(values: EntityMaker["given"]): readonly EntityMaker[] {
  const random = randomOf(seed);
  const makers = Array.from({ length: 12 }, () => ({ random, isMaximal: false, given: values }));
  return [{ random, isMaximal: true, given: values }, ...makers];
}

function entities(schema: TSchema, values: EntityMaker["given"], key: string): readonly object[] {
  return makersOf(values).map((maker, index) => {
    const made = madeOf({ ...maker, given: { ...values, [key]: `N${index}` } }, schema) as object;
    return index % 2 === 0 ? made : (withNulls(schema, made) as object);
  });
}

/** Whether null stands anywhere but where the interface shows it. */
function strayNulls(value: unknown, name = ""): string[] {
  const shown = /^(contactName|email|phone|sms|latitude|longitude|originLatitude|originLongitude)$/;
  if (value === null) return shown.test(name) ? [] : [name];
  if (typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) => strayNulls(inner, key));
}

describe("an answer that is sent back", () => {
  it("leaves a stop as it was, in its own form and in that of the answer", async () => {
    const gateway = await GatewayStore.open();
    await gateway.addPartner("C1");
    await gateway.importStops(...entities(Stop, content, "stopNbr"));
    await gateway.importStops({
      stopNbr: "N20",
      stopAssignment: { carrierCode: "C1", assignmentCriteria: 1 },
    });
    for (const stopNbr of ["N0", "N1", "N2", "N5", "N8", "N12", "N20"]) {
      const before = await gateway.stop(stopNbr);
      expect(strayNulls(before.stop)).toEqual([]);
      await gateway.importStops(before.stop);
      expect(await gateway.stop(stopNbr)).toEqual(before);
      await gateway.importStops(before);
      expect(await gateway.stop(stopNbr)).toEqual(before);
    }
  });

  it("leaves an ASN as it was", async () => {
    const gateway = await GatewayStore.open();
    await gateway.importAsns(...entities(Stop, content, "stopNbr"));
    for (const stopNbr of ["N0", "N3", "N4"]) {
      const before = await gateway.stop(stopNbr);
      await gateway.importAsns(before.stop);
      expect(await gateway.stop(stopNbr)).toEqual(before);
    }
  });

  it("leaves a load as it was, with its stops, its carrier and its driver", async () => {
    const gateway = await GatewayStore.open();
    await gateway.addPartner("C1");
    const userName = "a driver whose name is longer than an assignment of its own would take";
    await gateway.addDriver({ userName, email: "ann@example.com", carriers: ["C1"], fullName: "Ann Wolf" });
    const headers = entities(LoadHeader, ofLoads, "loadNbr");
    const stops = entities(Stop, content, "stopNbr");
    const loadAssignment = { carrierCode: "C1", assignmentCriteria: "01" };
    const loads = headers.map((loadHeader, index) => ({
      ...{ loadHeader, stops: [stops[index]], colour: { of: null } },
      ...(index === 0 ? { loadAssignment } : { loadAssignment: null }),
    }));
    expect(await gateway.importLoads(...loads)).toEqual(loads.map(() => "Success"));
    for (const [index] of headers.entries()) {
      const before = await gateway.load(`N${index}`);
      expect(strayNulls(before.loadHeader)).toEqual([]);
      expect(await gateway.importLoads(before)).toEqual(["Success"]);
      expect(await gateway.load(`N${index}`)).toEqual(before);
      const plain = before.stops.map(({ stop }: { stop: object }) => stop);
      expect(await gateway.importLoads({ ...before, stops: plain })).toEqual(["Success"]);
      expect(await gateway.load(`N${index}`)).toEqual(before);
    }
  });

  it("leaves a load alone that was taken from the driver whom its carrier had for it", async () => {
    const gateway = await GatewayStore.open();
    await gateway.addPartner("C1");
    await gateway.addDriver({ userName: "ann", carriers: ["C1"] });
    const loadAssignment = { carrierCode: "C1", assignmentCriteria: "01" };
    await gateway.importLoads({ loadHeader: { loadNbr: "L1" }, loadAssignment });
    await gateway.call(unassignLoadDriver, { ...gateway.at, loadNbr: "L1", body: {} });
    const before = await gateway.load("L1");
    expect(before).toMatchObject({ loadAssignment: { carrierCode: "C1", driverUserName: null } });
    expect(await gateway.importLoads(before)).toEqual(["Success"]);
    expect(await gateway.load("L1")).toEqual(before);
  });

  it("leaves a load with its driver who was disabled since", async () => {
    const gateway = await GatewayStore.open();
    await gateway.addDriver({ userName: "ann" });
    await gateway.importLoads({ loadHeader: { loadNbr: "L1" }, loadAssignment: { driverUserName: "ann" } });
    await gateway.store.write("site", async (tx) => {
      await tx.updateTable("users").set({ is_enabled: 0 }).execute();
    });
    const before = await gateway.load("L1");
    expect(await gateway.importLoads(before)).toEqual(["Success"]);
    expect(await gateway.load("L1")).toEqual(before);
  });

  it("leaves an order and a customer as they were", async () => {
    const gateway = await GatewayStore.open();
    const { companyId, at, call } = gateway;
    const orders = entities(Order, content, "orderNbr");
    const customers = entities(Customer, { timeTo: "23:59:59" }, "accountNumber");
    const rules = { maxEntries: 100, unknownFields: "refuse" } as const;
    const sendOrders = (list: unknown) =>
      call(importOrders, {
        ...{ ...at, serviceName: "default", rules },
        body: { companyCode: "ACME", orders: list },
      });
    const sendCustomers = (list: unknown) =>
      call(importCustomers, { ...at, body: { companyCode: "ACME", customers: list }, rules });
    await sendOrders(orders);
    await sendCustomers(customers);
    for (const [index] of orders.entries()) {
      const readOrder = async () =>
        JSON.parse(await call(readOrderDetail, { companyId, orderNbr: `N${index}` })).Order;
      const readCustomer = async () =>
        JSON.parse(await call(readCustomerDetail, { companyId, accountNumber: `N${index}` })).Customer;
      const [order, customer] = [await readOrder(), await readCustomer()];
      expect(strayNulls(customer)).toEqual([]);
      await sendOrders(order);
      await sendCustomers(customer);
      expect([await readOrder(), await readCustomer()]).toEqual([order, customer]);
    }
  });
});
