/** How many mails an address gets: the limit of an hour, and reminders that come together. */
import { describe, expect, test } from "vitest";
import { writeTestNotice } from "../../src/domain/alerts/notice.ts";
import { operatorId } from "../../src/domain/alerts/audience.ts";
import { sendNotice } from "../../src/operations/alerts/send-notice.ts";
import { AlertSite, finding } from "../support/alert-site.ts";

const hour = 60;
const day = 24 * hour;

/** Dead letters of so many targets. */
function deadLetters(count: number) {
  return Array.from({ length: count }, (_, index) => finding({ cause: `t${index}` }));
}

describe("the limit of an hour", () => {
  test("lets something urgent pass, as many times again and not without end", async () => {
    const site = await AlertSite.open({ maxPerHour: 2 });
    for (let index = 1; index <= 4; index += 1) {
      site.find(deadLetters(index), "deadLetters");
      await site.pass(1);
    }
    expect(site.subjects).toHaveLength(2);
    for (let index = 1; index <= 4; index += 1) {
      const paused = Array.from({ length: index }, (_, at) => finding({ cause: `p${at}` }));
      site.find(paused, "pausedTarget");
      await site.pass(1);
    }
    expect(site.subjects).toHaveLength(4);
    expect(site.subjects[2]).toMatch(/a target takes nothing \(p0\), since .*, and 2 more$/);
    expect(site.subjects[3]).toMatch(/a target takes nothing \(p1\)/);
    // When nothing urgent begins, it is the usual one.
    await site.pass(50);
    expect(site.subjects).toHaveLength(4);
    await site.pass(12);
    expect(site.subjects).toHaveLength(5);
    expect(site.subjects[4]).toMatch(/a target takes nothing \(p2\), since .*, and 1 more$/);
  });

  test("does not count tests of alerts", async () => {
    const site = await AlertSite.open({ maxPerHour: 1 });
    const context = { now: site.now, zone: "UTC", installation: "test", machine: "dg1" };
    const told = { id: operatorId, receivers: ["ops@example.com"], notice: writeTestNotice(context) };
    await site.store.write("site", (tx) => sendNotice(tx, { ...told, now: site.now, isTest: true }));
    site.find([finding()]);
    await site.pass(1);
    expect(site.subjects.map((subject) => subject.includes("test of alerts"))).toEqual([true, false]);
  });

  test("counts a notice to a new address and one to the others at the same moment once", async () => {
    const site = await AlertSite.open({ maxPerHour: 2 });
    site.find(deadLetters(1), "deadLetters");
    await site.pass(1);
    site.find(deadLetters(2), "deadLetters");
    await site.configure({ maxPerHour: 2, to: ["ops@example.com", "night@example.com"] });
    await site.pass(1);
    const to = (address: string) => site.smtp.mails.filter((mail) => mail.to.includes(address)).length;
    expect([to("ops@example.com"), to("night@example.com")]).toEqual([2, 1]);
    site.find(deadLetters(3), "deadLetters");
    await site.pass(1);
    expect(site.smtp.mails).toHaveLength(3);
    await site.pass(hour);
    expect([to("ops@example.com"), to("night@example.com")]).toEqual([3, 2]);
  });
});

test("reminders of incidents that opened one after the other come in one mail a day", async () => {
  const site = await AlertSite.open();
  for (let index = 1; index <= 5; index += 1) {
    site.find(deadLetters(index), "deadLetters");
    await site.pass(hour, hour);
  }
  expect(site.subjects).toHaveLength(5);
  await site.pass(3 * day, hour);
  const reminders = site.subjects.slice(5);
  expect(reminders).toHaveLength(3);
  for (const reminder of reminders)
    expect(reminder).toMatch(/still: ACME: deliveries were given up \(t0\), since .*, and 4 more$/);
});
