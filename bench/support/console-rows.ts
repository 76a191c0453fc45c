/**
 * What an installation of years has, for the pages of the console: a large company and some small ones, a ledger of which one
 * or two in a hundred files were refused, stops on loads, deliveries in all states, users, and the audit. The daemon must
 * not run.
 */
import { addDeliveryRows } from "./console-delivery-rows.ts";
import { addLedgerRows } from "./console-ledger-rows.ts";
import { addLoadRows } from "./console-load-rows.ts";
import { addSiteRows } from "./console-site-rows.ts";
import { plant, type Planting } from "./planting.ts";

/** Files of one day. */
export const filesPerDay = 27_000;
/** Of a hundred loads, with their stops, files and deliveries, so many are of the large company. */
const shareOfLarge = 67;
/** One stop has so many files, one load so many stops, and half of the files are of stops that are gone. */
export const filesOfStop = 5;
export const stopsOfLoad = 20;

/** The company of each load, by its number: `shares(slot, company_id)`, where the slot is what is left of a hundred. */
function addShares({ database, companyIds }: Planting): void {
  const [large, ...small] = companyIds;
  database.exec("create temp table shares (slot integer primary key, company_id integer not null)");
  const row = database.prepare("insert into shares values (?, ?)");
  for (let slot = 0; slot < 100; slot += 1)
    row.run(slot, slot < shareOfLarge ? large : small[slot % small.length]);
}

/** So many entries of the ledger, and a tenth as many stops and deliveries, in the companies of these codes. */
export function addConsoleRows(stateDir: string, rows: number, companyCodes: readonly string[]): void {
  plant(stateDir, (database) => {
    const idOf = database.prepare<[string], number>("select id from companies where code = ?").pluck();
    const companyIds = companyCodes.map((code) => {
      const id = idOf.get(code);
      if (id === undefined) throw new Error(`there is no company ${code}`);
      return id;
    });
    const planting: Planting = { database, rows, now: Date.now(), companyIds };
    addShares(planting);
    addLedgerRows(planting);
    addLoadRows(planting);
    addDeliveryRows(planting);
    addSiteRows(planting);
  });
}
