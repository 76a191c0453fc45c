/** A real store with one company and stops that are kept as a test says, for the operations on stops by themselves. */
import { onTestFinished } from "vitest";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { savePartner } from "../../src/store/accounts/partners.ts";
import type { Store } from "../../src/store/database/database.ts";
import { openFreshStore } from "./fresh-store.ts";
import { type StopRecord, saveStop } from "../../src/store/stops/stops.ts";
import { plainStop } from "./plain-stop.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export class StopSite {
  readonly store: Store;
  readonly companyId: number;
  readonly clock = { now: () => this.now };
  now = Date.UTC(2026, 10, 5, 8);

  private constructor(store: Store, companyId: number) {
    this.store = store;
    this.companyId = companyId;
  }

  static async open(): Promise<StopSite> {
    const store = await openFreshStore(temporaryFolder());
    onTestFinished(() => store.close());
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    return new StopSite(store, company.id);
  }

  async keep(stopNbr: string, changes: Partial<StopRecord> = {}): Promise<void> {
    const { companyId } = this;
    const body = JSON.stringify({ stopNbr });
    await this.store.write(companyId, (tx) =>
      saveStop(tx, { ...plainStop, companyId, stopNbr, body, ...changes }),
    );
  }

  async addPartner(partnerCode: string): Promise<void> {
    const { companyId, now } = this;
    await this.store.write(companyId, (tx) => savePartner(tx, { companyId, partner: { partnerCode }, now }));
  }

  async row(stopNbr: string) {
    return await this.store.read
      .selectFrom("stops")
      .selectAll()
      .where("stop_nbr", "=", stopNbr)
      .executeTakeFirstOrThrow();
  }

  /** The codes of the events of the company, oldest first. */
  async events(): Promise<readonly number[]> {
    const rows = await this.store.read
      .selectFrom("recorded_events")
      .select("event_code")
      .orderBy("id")
      .execute();
    return rows.map(({ event_code }) => event_code);
  }
}
