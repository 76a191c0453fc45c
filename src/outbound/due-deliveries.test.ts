import { describe, expect, test } from "vitest";
import { DeliverySite, start } from "../../test/support/delivery-site.ts";
import { DueDeliveries } from "./due-deliveries.ts";
import { hourMs, minuteMs, secondMs } from "../lib/durations.ts";

class DueSite {
  readonly site: DeliverySite;
  readonly due: DueDeliveries;
  readonly held = new Set<number>();

  private constructor(site: DeliverySite) {
    this.site = site;
    this.due = new DueDeliveries({ read: site.store.read, targetId: 1, companyCode: "ACME" });
  }

  static async open(...stopNbrs: readonly string[]): Promise<DueSite> {
    const site = new DueSite(await DeliverySite.open());
    await site.site.complete(...stopNbrs);
    return site;
  }

  /** Of the stop's delivery: when it is due, after so many attempts. */
  async putOff(stopNbr: string, dueAt: number, attempts = 1): Promise<void> {
    await this.site.store.write("site", (tx) =>
      tx
        .updateTable("deliveries")
        .set({ due_at: dueAt, attempts })
        .where("order_key", "=", stopNbr)
        .execute(),
    );
  }

  async giveUp(stopNbr: string): Promise<void> {
    await this.site.store.write("site", (tx) =>
      tx.updateTable("deliveries").set({ state: "dead" }).where("order_key", "=", stopNbr).execute(),
    );
  }

  /** The stop of the next one, which is held from then on. */
  async next(now = start): Promise<string | undefined> {
    const row = await this.due.next(now, this.held);
    if (row !== undefined) this.held.add(row.id);
    return row?.orderKey;
  }

  /** The stops of all that are due. */
  async all(now = start): Promise<readonly string[]> {
    const found: string[] = [];
    for (let next = await this.next(now); next !== undefined; next = await this.next(now)) found.push(next);
    return found;
  }
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `S${at + 1}`);

describe("what is due for a target", () => {
  test("comes with its company and its completion, the earliest first", async () => {
    const { due, held } = await DueSite.open("S1", "S2");
    const first = await due.next(start, held);
    expect(first).toMatchObject({ companyCode: "ACME", kind: "completion", orderKey: "S1", attempts: 0 });
    expect(first?.completion).toMatchObject({ id: first?.subjectId, stopNbr: "S1" });
    expect(first).not.toHaveProperty("message");
    expect((await due.next(start, held))?.completion?.stopNbr).toBe("S2");
  });

  test("is all of many pages, and what is held is not given a second time", async () => {
    const names = numbered(300);
    const due = await DueSite.open(...names);
    const page: (string | undefined)[] = [];
    for (let place = 0; place < 256; place += 1) page.push(await due.next());
    expect(page).toEqual(names.slice(0, 256));
    // The page was full: there may be more.
    expect(due.due.mayHave(start)).toBe(true);
    expect(await due.all()).toEqual(names.slice(256));
    expect(due.due.mayHave(start)).toBe(false);
  });

  test("is not asked for again before the next one is due, or there are news", async () => {
    const due = await DueSite.open("S1", "S2");
    await due.putOff("S1", start + minuteMs);
    await due.putOff("S2", start + hourMs);
    expect(await due.all()).toEqual([]);
    expect([start, start + minuteMs - 1, start + minuteMs].map((now) => due.due.mayHave(now))).toEqual([
      ...[false, false, true],
    ]);
    due.due.expectAt(start + 2 * minuteMs);
    expect(due.due.mayHave(start + minuteMs)).toBe(true);
    due.due.expectAt(start + secondMs);
    expect([start, start + secondMs].map((now) => due.due.mayHave(now))).toEqual([false, true]);
    due.due.expectNews();
    expect(due.due.mayHave(start)).toBe(true);
    expect(await due.all(start + minuteMs)).toEqual(["S1"]);
  });

  test("is also what was never tried, and what is put off for longer than anything ever is", async () => {
    const due = await DueSite.open("S1", "S2", "S3");
    await due.putOff("S1", start + hourMs, 0);
    await due.putOff("S2", start + 6 * hourMs);
    await due.putOff("S3", start + 7 * hourMs);
    expect(await due.all()).toEqual(["S1", "S3"]);
    expect(due.due.mayHave(start + 6 * hourMs)).toBe(true);
  });
});

describe("what was read", () => {
  test("is in hand until it has been given", async () => {
    const due = await DueSite.open(...numbered(40));
    expect(await due.next()).toBe("S1");
    // 31 are ready, and 8 on the page.
    expect(due.due.mayHave(0)).toBe(true);
    expect(await due.all()).toHaveLength(39);
    expect(due.due.mayHave(0)).toBe(false);
  });

  test("is asked about again at the first news of a second later, and what was given up is not given", async () => {
    const due = await DueSite.open(...numbered(40));
    expect(await due.next()).toBe("S1");
    // One that is ready, and one that is on the page.
    for (const stopNbr of ["S3", "S39"]) await due.giveUp(stopNbr);
    due.due.expectNews();
    expect(await due.next(start + secondMs - 1)).toBe("S2");
    const rest = numbered(40).filter((name) => !["S1", "S2", "S3", "S39"].includes(name));
    expect(await due.all(start + secondMs)).toEqual(rest);
  });

  test("is given as it was when there are no news", async () => {
    const due = await DueSite.open("S1", "S2");
    expect(await due.next()).toBe("S1");
    await due.giveUp("S2");
    expect(await due.next(start + hourMs)).toBe("S2");
  });

  test("is asked for again after a fault of the store", async () => {
    const { site } = await DueSite.open("S1");
    const broken = { fails: true };
    const read = new Proxy(site.store.read, {
      get(of, name) {
        if (broken.fails) throw new Error("disk I/O error");
        const value: unknown = Reflect.get(of, name);
        return typeof value === "function" ? (value.bind(of) as unknown) : value;
      },
    });
    const due = new DueDeliveries({ read, targetId: 1, companyCode: "ACME" });
    await expect(due.next(start, new Set())).rejects.toThrow("disk I/O error");
    expect(due.mayHave(0)).toBe(true);
    broken.fails = false;
    expect((await due.next(start, new Set()))?.orderKey).toBe("S1");
  });
});
