import { describe, expect, test } from "vitest";
import { type ActSite, openActSite } from "../../../../test/support/console-acts.ts";
import { DeliverySite, failure, unreachable } from "../../../../test/support/delivery-site.ts";
import type { ConsoleUser } from "../../../endpoints/http/console/console-user.ts";
import type { SeveralDone } from "../../../endpoints/http/console/console-acts.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { hourMs, minuteMs } from "../../../lib/durations.ts";
import { insertCompany } from "../../../store/accounts/companies.ts";
import { writeMeta } from "../../../store/database/meta.ts";
import { deliveryHoldKey, findDeliveryHold } from "../../../store/outbound/delivery-hold.ts";
import { findDelivery } from "../../../store/outbound/delivery-queries.ts";

type Verb = "delivery.retry" | "delivery.resend" | "delivery.giveUp";

interface Rig {
  readonly deliveries: DeliverySite;
  readonly acts: ActSite;
  readonly anna: ConsoleUser;
  guids(): Promise<readonly string[]>;
  run(
    verb: Verb,
    of: readonly string[],
    rest?: { user?: ConsoleUser; seenAt?: number },
  ): Promise<SeveralDone>;
}

async function rig(...stops: readonly string[]): Promise<Rig> {
  const deliveries = await DeliverySite.open();
  await deliveries.complete(...stops);
  const acts = await openActSite({ store: deliveries.store, stateDir: "/nowhere", now: deliveries.now });
  const anna = await acts.user("anna", ["MemberAdmin"], deliveries.companyId);
  return {
    ...{ deliveries, acts, anna },
    guids: async () => (await deliveries.rows()).map(({ guid }) => guid),
    async run(verb, of, { user = anna, seenAt = deliveries.now } = {}) {
      acts.now = deliveries.now;
      const by = { user, companyId: deliveries.companyId, reason: "it is mended" };
      return await acts.act(verb, by, { of, seenAt });
    },
  };
}

const delivered = { kind: "delivered" } as const;

describe("a dead delivery", () => {
  async function withDead(): Promise<Rig> {
    const made = await rig("S1");
    made.deliveries.target().script = () => failure({ isPermanent: true });
    await made.deliveries.startQueue();
    await made.deliveries.pass(0);
    return made;
  }

  test("is tried again once, however often the form comes, and the audit says what it was", async () => {
    const { deliveries, acts, run, guids } = await withDead();
    deliveries.target().script = () => delivered;
    deliveries.now += minuteMs;
    const seenAt = deliveries.now;
    expect(await run("delivery.retry", await guids(), { seenAt })).toEqual({ done: 1, notDone: [] });
    await deliveries.pass(minuteMs);
    expect(await deliveries.states()).toEqual(["delivered"]);
    expect(await run("delivery.retry", await guids(), { seenAt })).toEqual({ done: 1, notDone: [] });
    expect(deliveries.target().sent).toHaveLength(2);
    const [entry, ...more] = await acts.audit();
    expect(more).toEqual([]);
    expect(JSON.parse(entry?.before ?? "")).toMatchObject({ state: "dead", fault: "busy" });
    expect(JSON.parse(entry?.after ?? "")).toMatchObject({ state: "waiting" });
  });

  test("that has died again since the page was made is not tried once more", async () => {
    const { deliveries, run, guids } = await withDead();
    const { notDone } = await run("delivery.retry", await guids(), { seenAt: deliveries.now - 1 });
    expect(notDone[0]?.why).toContain("it has changed at");
    expect(await deliveries.states()).toEqual(["dead"]);
  });

  test("is given up under the name of who did it, and the later one of its stop goes on", async () => {
    const { deliveries, run, guids } = await rig("S1", "S1");
    expect(await run("delivery.giveUp", (await guids()).slice(0, 1))).toEqual({ done: 1, notDone: [] });
    expect(await deliveries.states()).toEqual(["dropped", "waiting"]);
    expect((await findDelivery(deliveries.store.read, 1))?.faultText).toBe("given up by anna: it is mended");
  });
});

test("a retry ends the pause of the target that failed, and the waiting ones go out at once", async () => {
  const { deliveries, run, guids } = await rig("S1", "S2");
  deliveries.target().script = () => unreachable;
  await deliveries.startQueue();
  for (let tries = 0; tries < 5; tries += 1) await deliveries.pass(7 * hourMs);
  deliveries.target().script = () => delivered;
  expect(await run("delivery.retry", await guids())).toEqual({ done: 2, notDone: [] });
  await deliveries.pass(1);
  expect(await deliveries.states()).toEqual(["delivered", "delivered"]);
});

test("a delivered file is sent again once for each time somebody has looked at it", async () => {
  const { deliveries, acts, run, guids } = await rig("S1");
  await deliveries.startQueue();
  await deliveries.pass(0);
  deliveries.now += minuteMs;
  const seenAt = deliveries.now;
  expect(await run("delivery.resend", await guids(), { seenAt })).toEqual({ done: 1, notDone: [] });
  await deliveries.pass(minuteMs);
  expect(await deliveries.states()).toEqual(["delivered"]);
  // The button of a page that was open all the time, and somebody else's.
  expect((await run("delivery.resend", await guids(), { seenAt })).done).toBe(1);
  const berta = await acts.user("berta", ["MemberAdmin"], deliveries.companyId);
  const second = await run("delivery.resend", await guids(), { seenAt, user: berta });
  expect(second.notDone[0]?.why).toMatch(/^it was sent again by anna at /);
  expect(deliveries.target().sent).toHaveLength(2);
  expect(await acts.audit()).toHaveLength(1);
});

test("what cannot be done is told with why, and what can be done instead", async () => {
  const { deliveries, acts, run, guids } = await rig("S1", "S2");
  const [waits = "", other = ""] = await guids();
  const why = async (verb: Verb, of: string) => (await run(verb, [of])).notDone[0]?.why;
  const told = actWords.delivery;
  expect(await why("delivery.resend", waits)).toBe(told.notDelivered("waiting"));
  expect(await run("delivery.giveUp", [other])).toEqual({ done: 1, notDone: [] });
  deliveries.now += minuteMs;
  expect(await why("delivery.giveUp", other)).toMatch(/^it was given up by anna at |^it was dropped before/);
  await deliveries.startQueue();
  await deliveries.pass(0);
  deliveries.now += minuteMs;
  expect(await why("delivery.retry", waits)).toBe(told.delivered);
  expect(await why("delivery.giveUp", waits)).toBe(told.hasIt);
  expect(await deliveries.states()).toEqual(["delivered", "dropped"]);
  expect((await acts.audit()).map(({ kind }) => kind)).toEqual(["delivery.giveUp"]);
});

test("a dead one is not sent again, but to be tried again", async () => {
  const { deliveries, run, guids } = await rig("S1");
  deliveries.target().script = () => failure({ isPermanent: true });
  await deliveries.startQueue();
  await deliveries.pass(0);
  deliveries.now += minuteMs;
  const [refused] = (await run("delivery.resend", await guids())).notDone;
  expect(refused?.why).toBe(actWords.delivery.deadInstead);
  expect(await deliveries.states()).toEqual(["dead"]);
});

test("of one stop the later one is given up first, so that none goes on that is given up with it", async () => {
  const { deliveries, acts, run, guids } = await rig("S1", "S1");
  expect(await deliveries.states()).toEqual(["waiting", "behind"]);
  const [first = "", second = ""] = await guids();
  expect(await run("delivery.giveUp", [first, second])).toEqual({ done: 2, notDone: [] });
  const entries = await acts.audit();
  expect(entries.map(({ subject }) => subject?.split(" ").at(-1))).toEqual([second, first]);
  for (const { after } of entries) expect(JSON.parse(after ?? "")).toEqual({ state: "dropped", next: null });
});

test("a delivery of another company is not there", async () => {
  const { deliveries, acts, run, guids } = await rig("S1");
  const { store } = deliveries;
  const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "OTHER", createdAt: 1 }));
  const carl = await acts.user("carl", ["MemberAdmin"], company.id);
  const by = { user: carl, companyId: company.id, reason: "mine" };
  const of = [...(await guids()), "00000000-0000-4000-8000-000000000000"];
  const done = await acts.act("delivery.giveUp", by, { of, seenAt: deliveries.now });
  expect(done).toEqual({ done: 0, notDone: [{ why: expect.stringContaining("no such thing"), of }] });
  expect(await deliveries.states()).toEqual(["waiting"]);
  // A member of another company who names this one.
  await expect(run("delivery.giveUp", await guids(), { user: carl })).rejects.toMatchObject({
    code: "roleMissing",
  });
});

describe("acts on all companies", () => {
  const hold = { restoredAt: 1, backup: "b1", sendAgainFrom: 1, lastReceivedAt: null };

  test("release what a restore holds, by an operator alone, and once", async () => {
    const { deliveries, acts, anna } = await rig("S1");
    const { store, now, companyId } = deliveries;
    await store.write("site", (tx) => writeMeta(tx, deliveryHoldKey, JSON.stringify(hold)));
    const release = (user: ConsoleUser) =>
      acts.act("deliveries.release", { user, companyId: undefined, reason: "checked" }, { seenAt: now });
    await expect(release(anna)).rejects.toMatchObject({ code: "roleMissing" });
    expect(await findDeliveryHold(store.read)).toEqual(hold);
    const root = await acts.user("root", ["MemberAdmin"], companyId, true);
    expect(await release(root)).toEqual({ targets: 1 });
    expect(await findDeliveryHold(store.read)).toBeUndefined();
    await expect(release(root)).resolves.toEqual({ targets: 0 });
    const other = await acts.user("other", ["MemberAdmin"], companyId, true);
    await expect(release(other)).rejects.toThrow(/^it was released by root at /);
    expect(await acts.audit()).toMatchObject([{ kind: "deliveries.release", companyId: null }]);
  });

  test("lift the ban of an address, and say when it has ended before", async () => {
    const { deliveries, acts } = await rig();
    const { now, companyId } = deliveries;
    const root = await acts.user("root", ["MemberAdmin"], companyId, true);
    acts.bans.set("192.0.2.9", { key: "192.0.2.9", until: now + hourMs, count: 2 });
    expect(await acts.look("bans", root, {})).toMatchObject([{ name: "192.0.2.9", count: 2 }]);
    const anna = await acts.user("anna2", ["MemberAdmin"], companyId);
    expect(await acts.look("bans", anna, {})).toEqual([]);
    acts.bans.set("192.0.2.8", { key: "192.0.2.8", until: now + minuteMs, count: 1 });
    expect((await acts.look("bans", root, {})).map(({ name }) => name)).toEqual(["192.0.2.9", "192.0.2.8"]);
    acts.bans.delete("192.0.2.8");
    const lift = () =>
      acts.act(
        "ban.lift",
        { user: root, companyId: undefined, reason: "our own" },
        { name: "192.0.2.9", seenAt: now },
      );
    await lift();
    expect(acts.bans.size).toBe(0);
    await lift();
    expect(await acts.audit()).toMatchObject([{ kind: "ban.lift", subject: "address 192.0.2.9" }]);
  });
});
