/**
 * Thousands of random histories of reservations, holds that run out, deletions and listings, several requests at a time,
 * against a model that adds everything up: never overbooked, never lost, and every answer is that of the model.
 */
import { expect, it } from "vitest";
import { slotIdOf } from "../../src/domain/appointments/appointment-slots.ts";
import { expireHolds } from "../../src/operations/consequences/slot-accounting.ts";
import { importOrders } from "../../src/operations/imports/import-orders.ts";
import { rejectOrder } from "../../src/operations/orders/reject-order.ts";
import { reserve, slotIds, sumsOf } from "../support/appointment-client.ts";
import { AppointmentModel, type Request } from "../support/appointment-model.ts";
import { regionOf, settingsOf } from "../support/appointment-settings.ts";
import { codeOf, GatewayStore } from "../support/gateway-store.ts";
import { sequenceOf } from "../support/random-numbers.ts";
import { dayMs, minuteMs } from "../../src/lib/durations.ts";
import { amount } from "../support/sampled.ts";

const histories = amount(120, 2_000);
const roundsEach = 5;
const holdMinutes = 30;

const orders = Array.from({ length: 6 }, (_, at) => `O${at}`);
const addresses = [undefined, "1 Elm Lane", "2 Elm Lane", "3 Elm Lane"];

/** Counted in events, so that nothing is recorded twice or not at all. */
interface Expected {
  confirmed: number;
  cancelled: number;
}

class History {
  readonly #gateway: GatewayStore;
  readonly #model: AppointmentModel;
  readonly #random: (below: number) => number;
  readonly #expected: Expected;
  readonly #limits: { readonly appointments: number; readonly quantity: number };
  readonly #slots: readonly string[];
  readonly #region: string;

  constructor(gateway: GatewayStore, model: AppointmentModel, at: number, expected: Expected) {
    this.#gateway = gateway;
    this.#model = model;
    this.#expected = expected;
    this.#random = sequenceOf(at + 1);
    this.#limits = { appointments: 1 + this.#random(4), quantity: 2 + this.#random(9) };
    this.#region = `R${at}`;
    const region = regionOf(this.#limits, ["08:00-10:00", "10:00-12:00"], {
      name: this.#region,
      zone: "UTC",
    });
    gateway.appointmentSettings = settingsOf([region], { horizonDays: 14 });
    const date = new Date(gateway.now + 2 * dayMs).toISOString().slice(0, 10);
    this.#slots = [`${date}T08:00`, `${date}T10:00`];
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random(list.length)] as T;
  }

  #request(): Request {
    const order = this.#random(2) === 0 ? undefined : this.#pick(orders);
    const quantity = 1 + this.#random(4);
    return { slot: this.#pick(this.#slots), quantity, order, address: this.#pick(addresses) };
  }

  #nameOf(slot: string): string {
    return `${this.#region} ${slot}`;
  }

  #slotId(key: string): string {
    const region = { name: this.#region } as Parameters<typeof slotIdOf>[1]["region"];
    return slotIdOf(this.#gateway.companyId, { key, region });
  }

  /** Sends a reservation and says what the model expects. */
  #reserve(): { readonly answer: Promise<string>; readonly expected: string } {
    const { slot, quantity, order, address } = this.#request();
    const answer = codeOf(
      reserve(this.#gateway, {
        ...{ timeSlotId: this.#slotId(slot), quantity, orderId: order ?? "Not Available", addr1: address },
      }),
    );
    const request = { slot: this.#nameOf(slot), quantity, order, address };
    const isDone = this.#model.reserve(request, this.#limits, this.#gateway.now);
    if (isDone && order !== undefined) this.#expected.confirmed += 1;
    return { answer, expected: isDone ? "done" : "slotFull" };
  }

  /** Deletes an order and brings it back. */
  #cancel(): { readonly answer: Promise<string>; readonly expected: string } {
    const orderNbr = this.#pick(orders);
    const { call, at } = this.#gateway;
    if (this.#model.cancel(orderNbr)) this.#expected.cancelled += 1;
    const deletion = call(rejectOrder, { ...at, body: { orderNbr, reasonCode: "R" } });
    const answer = codeOf(deletion.then(() => addOrders(this.#gateway, [orderNbr])));
    return { answer, expected: "done" };
  }

  async #checkListing(): Promise<void> {
    const { quantity, order } = this.#request();
    const apptStartDate = `${this.#slots[0]}:00`;
    const listed = await slotIds(this.#gateway, { quantity, orderId: order, apptStartDate });
    const expected = this.#slots.filter((slot) => {
      const request = { slot: this.#nameOf(slot), quantity, order, address: undefined };
      return this.#model.isListed(request, this.#limits, this.#gateway.now);
    });
    expect(this.#slots.filter((slot) => listed.has(slot))).toEqual(expected);
  }

  async run(): Promise<void> {
    for (let round = 0; round < roundsEach; round += 1) {
      // Requests are written in the order in which they were sent.
      const sent = Array.from({ length: 1 + this.#random(8) }, () => this.#reserve());
      // By itself: the import that brings the order back comes after others that were sent later.
      expect(await Promise.all(sent.map(({ answer }) => answer))).toEqual(
        sent.map(({ expected }) => expected),
      );
      if (this.#random(3) === 0) {
        const { answer, expected } = this.#cancel();
        expect(await answer).toBe(expected);
      }
      this.#gateway.now += this.#pick([0, 0, 1, 10, 29, 30, 31]) * minuteMs;
      await this.#checkListing();
    }
    await this.#checkCapacity();
  }

  /** Straight from the rows: what counts now is within what the slots have. */
  async #checkCapacity(): Promise<void> {
    const rows = await this.#gateway.store.read
      .selectFrom("appointments")
      .select(["slot_key", "quantity", "state", "expires_at"])
      .where("region", "=", this.#region)
      .execute();
    for (const slot of this.#slots) {
      const counted = rows.filter(
        ({ slot_key, state, expires_at }) =>
          slot_key === slot &&
          (state === "confirmed" || (state === "held" && (expires_at ?? 0) > this.#gateway.now)),
      );
      const quantity = counted.reduce((sum, row) => sum + row.quantity, 0) / 1_000;
      expect(counted.length).toBeLessThanOrEqual(this.#limits.appointments);
      expect(quantity).toBeLessThanOrEqual(this.#limits.quantity);
    }
  }
}

async function addOrders(gateway: GatewayStore, numbers: readonly string[]): Promise<void> {
  const body = { companyCode: "ACME", orders: numbers.map((orderNbr) => ({ orderNbr })) };
  await gateway.call(importOrders, { ...gateway.at, serviceName: "default", body });
}

it(`${histories} random histories end as the model says`, async () => {
  const gateway = await GatewayStore.open();
  await addOrders(gateway, orders);
  const model = new AppointmentModel(holdMinutes * minuteMs);
  const expected: Expected = { confirmed: 0, cancelled: 0 };
  for (let at = 0; at < histories; at += 1) {
    try {
      await new History(gateway, model, at, expected).run();
    } catch (error) {
      throw new Error(`history ${at}`, { cause: error });
    }
    // What cannot count any more need not be looked through by the model.
    model.bookings = model.live(gateway.now);
  }
  // Most of what was asked for happened, and much of it was refused: the histories are worth something.
  expect(expected.confirmed).toBeGreaterThan(histories * 2);
  expect(expected.cancelled).toBeGreaterThan(histories / 10);
  const { counted, kept } = await sumsOf(gateway);
  expect(kept).toEqual(counted);
  const codes = (await gateway.events()).filter((code) => code >= 8101);
  expect(codes.filter((code) => code === 8102)).toHaveLength(expected.confirmed);
  expect(codes.filter((code) => code === 8103)).toHaveLength(expected.cancelled);
  // Nothing is lost: when all has run out or been deleted, not a thousandth is in use.
  gateway.now += holdMinutes * minuteMs;
  for (const orderNbr of orders)
    await gateway.call(rejectOrder, { ...gateway.at, body: { orderNbr, reasonCode: "R" } });
  await gateway.store.write("site", async (tx) => {
    await expireHolds(tx, { companyId: gateway.companyId, now: gateway.now, limit: 1_000_000 });
  });
  expect(await sumsOf(gateway)).toEqual({ counted: {}, kept: {} });
});
