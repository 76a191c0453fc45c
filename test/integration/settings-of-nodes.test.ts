/** What a node writes of its configuration when it takes a company: nothing, when the store has it. */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveOwnOutboundSettings, takeOutboundSettingsOf } from "../../src/app/daemon/outbound-settings.ts";
import { operatorCode, operatorId } from "../../src/domain/alerts/audience.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { AlertSite, configFrom, finding } from "../support/alert-site.ts";
import { DeliverySite } from "../support/delivery-site.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import type { SmtpScript } from "../support/smtp-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const acme = { id: 1, code: "ACME" };
const operator = { id: operatorId, code: operatorCode };
const busy: SmtpScript = (command) => (command === "greeting" ? "421 busy" : undefined);

/** A store that says how often it was written. */
function counted(store: Store) {
  const writes = { count: 0 };
  const write: Store["write"] = (...given) => {
    writes.count += 1;
    return store.write(...given);
  };
  return { writes, store: { ...store, read: store.read, write } };
}

/** How many units of work are written when these are taken, twice in a row. */
async function takeTwice(site: Pick<AlertSite, "store" | "config">, config = site.config) {
  const { writes, store } = counted(site.store);
  const counts: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    const before = writes.count;
    for (const subject of [operator, acme]) await takeOutboundSettingsOf(store, () => config, subject);
    counts.push(writes.count - before);
  }
  return counts;
}

function toldOf(targets: readonly string[]) {
  const outbound = { targets: Object.fromEntries(targets.map((name) => [name, { type: "folder" }])) };
  const email = { host: "127.0.0.1", port: 25, tls: "none", from: "dropgate@example.com" };
  return { alerts: { email, to: ["ops@example.com"] }, companies: { ACME: { outbound } } };
}

async function freshStore(): Promise<Store> {
  const store = await openFreshStore(temporaryFolder());
  onTestFinished(() => store.close());
  await store.write("site", (tx) => insertCompany(tx, { code: acme.code, createdAt: 1 }));
  return store;
}

async function operators({ read }: Store): Promise<readonly number[]> {
  const rows = await read.selectFrom("companies").select("id").where("id", "=", operatorId).execute();
  return rows.map(({ id }) => id);
}

/** The names of the targets in force. */
async function inForce({ read }: Store): Promise<readonly string[]> {
  const rows = read.selectFrom("outbound_targets").select("name").where("is_configured", "=", 1);
  return (await rows.execute()).map(({ name }) => name).toSorted();
}

async function urlsTold(site: AlertSite) {
  const rows = await site.store.read.selectFrom("incident_receivers").select("url_hash").execute();
  return rows.map((row) => row.url_hash);
}

describe("a company that a node takes", () => {
  it("has nothing written that the store has already", async () => {
    const site = await AlertSite.open({}, { alerts: { to: ["orders@acme.example"] } });
    expect(await takeTwice(site)).toEqual([0, 0]);
  });

  it("has a target that is new, and an operator who is told from now on, written once", async () => {
    const [nobody, told] = [await configFrom({}), await configFrom(toldOf(["host"]))];
    const store = await freshStore();
    expect(await takeTwice({ store, config: nobody })).toEqual([1, 0]);
    expect(await operators(store)).toEqual([]);
    expect(await takeTwice({ store, config: told })).toEqual([2, 0]);
    expect(await operators(store)).toEqual([operatorId]);
    expect(await inForce(store)).toEqual(["alerts.email", "host"]);
  });

  it("has in force what its node was reloaded to while that was to be written", async () => {
    const [former, latter] = [await configFrom(toldOf(["former"])), await configFrom(toldOf(["latter"]))];
    const store = await freshStore();
    let config = former;
    const turn = Promise.withResolvers<void>();
    const waiting: Store["write"] = async (...given) => {
      await turn.promise;
      return await store.write(...given);
    };
    const taken = takeOutboundSettingsOf({ read: store.read, write: waiting }, () => config, acme);
    await pause(50);
    config = latter;
    await saveOwnOutboundSettings({ store, isOurs: (id) => id === acme.id }, () => config);
    turn.resolve();
    await taken;
    expect(await inForce(store)).toEqual(["latter"]);
  });

  it("has all of it written at a reload, for what waits to be written may be of before", async () => {
    const site = await AlertSite.open();
    const { writes, store } = counted(site.store);
    await saveOwnOutboundSettings({ store, isOurs: (id) => id === acme.id }, () => site.config);
    expect(writes.count).toBe(1);
  });

  it("has alerts ended that wait for a receiver of its own who is told no more, and nobody else's", async () => {
    const site = await AlertSite.open({}, { alerts: { to: ["orders@acme.example"] } });
    site.smtp.script(busy);
    site.find([finding()]);
    await site.look();
    const states = async () => {
      const rows = site.store.read.selectFrom("deliveries").select(["order_key as to", "state"]);
      return Object.fromEntries((await rows.execute()).map(({ to, state }) => [to, state]));
    };
    expect(await states()).toEqual({ "ops@example.com": "waiting", "orders@acme.example": "waiting" });
    const { store } = site;
    const without = { ...site.config, companies: {} };
    await takeOutboundSettingsOf(store, () => without, operator);
    expect(await states()).toEqual({ "ops@example.com": "waiting", "orders@acme.example": "waiting" });
    await takeOutboundSettingsOf(store, () => without, acme);
    expect(await states()).toEqual({ "ops@example.com": "waiting", "orders@acme.example": "dropped" });
    expect(await takeTwice(site, without)).toEqual([0, 0]);
  });

  it("has a URL of its web service noted that is another one than what waits for it knows", async () => {
    const site = await AlertSite.open();
    const byHttps = (url: string) => ({ https: { url, allowPlain: true }, email: undefined, to: [] });
    await site.configure(byHttps("http://127.0.0.1:1/"));
    site.find([finding()]);
    await site.look();
    // From here on nothing is sent, and a pause is not what is written.
    await site.queue.stop(AbortSignal.abort());
    await site.store.write("site", (tx) =>
      tx.updateTable("outbound_targets").set({ paused_until: 0 }).execute(),
    );
    const { config: nowhere } = site;
    const [first] = await urlsTold(site);
    expect(await takeTwice(site, nowhere)).toEqual([0, 0]);
    // From before URLs were noted.
    await site.store.write("site", (tx) =>
      tx.updateTable("incident_receivers").set({ url_hash: null }).execute(),
    );
    expect(await takeTwice(site, nowhere)).toEqual([1, 0]);
    expect(await urlsTold(site)).toEqual([first]);
    const there = await configFrom({
      alerts: { ...byHttps(site.web.url), installation: "test" },
      companies: { ACME: {} },
    });
    expect(await takeTwice(site, there)).toEqual([1, 0]);
    const [second] = await urlsTold(site);
    expect(second).not.toBe(first);
    // The company goes back to the node with the old configuration.
    expect(await takeTwice(site, nowhere)).toEqual([1, 0]);
    expect(await urlsTold(site)).toEqual([first]);
    await site.store.write("site", (tx) =>
      tx.updateTable("deliveries").set({ state: "delivered" }).execute(),
    );
    expect(await takeTwice(site, there)).toEqual([0, 0]);
  });
});

describe("the queue of a company that a node takes", () => {
  it("counts its deliveries anew when somebody has changed the database by hand, and else writes nothing", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2");
    const { writes, store } = counted(site.store);
    const ownership = { isSole: false, fenceOf: () => undefined };
    const queue = await site.startQueue({ store, ownership });
    const company = { companyId: site.companyId, companyCode: "ACME", orphanedAt: undefined };
    const counts = () =>
      site.store.read
        .selectFrom("outbound_targets")
        .select(["open_count as open", "dead_count as dead"])
        .execute();
    const right = await counts();
    expect(right).toEqual([{ open: 2, dead: 0 }]);
    await queue.take(company);
    expect(writes.count).toBe(0);
    for (const [at, wrong] of [{ open_count: 7 }, { dead_count: 3 }].entries()) {
      await site.store.write("site", (tx) => tx.updateTable("outbound_targets").set(wrong).execute());
      await queue.take(company);
      expect(writes.count).toBe(at + 1);
      expect(await counts()).toEqual(right);
    }
  });
});
