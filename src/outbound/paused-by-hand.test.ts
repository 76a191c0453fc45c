/** Targets that somebody has paused: nothing is sent until somebody resumes them, whatever happens meanwhile. */
import { expect, test } from "vitest";
import { DeliverySite } from "../../test/support/delivery-site.ts";
import { waitFor } from "../../test/support/wait-for.ts";
import { hourMs } from "../lib/durations.ts";
import { retryDelivery } from "../operations/deliveries/repeat-delivery.ts";
import { pauseByHand, resumeByHand } from "../store/outbound/hand-pauses.ts";

const host = { kind: "target", name: "host" } as const;

async function rig() {
  const site = await DeliverySite.open();
  const thing = { ...host, companyId: site.companyId };
  const pause = () =>
    site.store.write("site", (tx) =>
      pauseByHand(tx, { ...thing, pausedAt: site.now, pausedBy: "anna", reason: "their system moves" }),
    );
  const resume = () => site.store.write("site", (tx) => resumeByHand(tx, thing));
  return { site, pause, resume };
}

test("nothing is sent to a target while it is paused by hand, and all of it in order when it is resumed", async () => {
  const { site, pause, resume } = await rig();
  await site.startQueue();
  expect(await pause()).toBeUndefined();
  await site.complete("S1", "S1", "S2");
  await site.pass(hourMs);
  expect(site.target().sent).toEqual([]);
  expect(site.queue.statistics()).toMatchObject([{ isPausedByHand: true, open: 3 }]);
  expect(await resume()).toMatchObject({ pausedBy: "anna" });
  site.queue.wake();
  await waitFor("all to be sent", async () => !(await site.states()).includes("waiting"));
  await site.pass(1);
  expect(await site.states()).toEqual(["delivered", "delivered", "delivered"]);
  expect(site.queue.statistics()).toMatchObject([{ isPausedByHand: false }]);
});

test("a pause by hand holds after a restart, and a retry of a delivery does not end it", async () => {
  const { site, pause } = await rig();
  await pause();
  await site.complete("S1");
  await site.startQueue();
  await site.pass(hourMs);
  await site.store.write("site", (tx) => retryDelivery(tx, { id: 1, now: site.now }));
  site.queue.reload();
  await site.pass(hourMs);
  expect(site.target().sent).toEqual([]);
});

test("the first who pauses is named to the second, and a pause that has ended ends once", async () => {
  const { site, pause, resume } = await rig();
  await pause();
  expect(await pause()).toMatchObject({ pausedBy: "anna", reason: "their system moves" });
  expect(await resume()).toMatchObject({ pausedBy: "anna", pausedAt: site.now });
  expect(await resume()).toBeUndefined();
});
