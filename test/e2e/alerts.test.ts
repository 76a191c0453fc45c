/**
 * Alerts of the real program: a flood of refused files is one incident and two mails; over kill -9 at each step each alert
 * comes, under one id; the commands list incidents and try how they are told.
 */
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { IncidentView, TestOutcome } from "../../src/app/admin/alert-admin.ts";
import type { DeliveryView } from "../../src/app/admin/delivery-view.ts";
import { subjectOf } from "../support/alert-site.ts";
import { company, lenient, oneParser, type Settings, Site } from "../support/daemon.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { headerOf, type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { fileName } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { killedExitCode } from "./crash-host.ts";
import { changeRows, rowsOf } from "../support/site-database.ts";
import { amount, sampled } from "../support/sampled.ts";

let site: Site;
let smtp: SmtpServer;
let web: Receiver;

function alerts(rest: Settings = {}): Settings {
  return {
    email: { host: "127.0.0.1", port: smtp.port, tls: "none", from: "dropgate@example.com" },
    ...{ to: ["ops@example.com"], installation: "test", checkEveryMs: 1_000, closeAfterMs: 0 },
    ...rest,
  };
}

beforeEach(async () => {
  smtp = await startSmtpServer();
  web = await startReceiver();
  site = await Site.make({ security: lenient, inbound: { ...oneParser, settleMs: 100, scanMs: 500 } });
});
afterEach(async () => {
  await site.end();
  await Promise.all([smtp.end(), web.end()]);
});

/** A file that no schema takes. Written at once: thousands of them are put in a second or two. */
function putRefused(stopNbr: string): void {
  writeFileSync(site.path("inbound", fileName(stopNbr)), `<Stop><StopNbr>${stopNbr}</StopNbr></Stop>`);
}

const query = <T>(sql: string) => rowsOf<T>(site, sql);

function refusedCount(): number {
  return (
    query<{ count: number }>("select count(*) as count from files where state = 'refused'")[0]?.count ?? 0
  );
}

/** As if so much time had passed since the files were decided; while the daemon does not run. */
function ageFiles(ms: number): void {
  changeRows(site, "update files set decided_at = decided_at - ?", ms);
}

test("a flood of refused files is one incident and two mails: when it begins, and that it is a flood", async () => {
  const files = amount(400, 10_000);
  const https = { url: web.url, allowPlain: true };
  await site.reconfigure({ alerts: alerts({ https }), inbound: { settleMs: 100, scanMs: 500 } });
  await site.start();
  const names = Array.from({ length: files }, (_, index) => `F${index}`);
  putRefused(names[0] ?? "");
  await waitFor("the first mail", () => smtp.mails.length === 1);
  for (const name of names.slice(1)) putRefused(name);
  const isCounted = () => query(`select 1 from incidents where count = ${files}`).length === 1;
  await waitFor("all to be refused and counted", isCounted, 400_000);
  expect(refusedCount()).toBe(files);
  await waitFor("the second mail", () => smtp.mails.length === 2);
  const open = await site.json<readonly IncidentView[]>("alerts");
  expect(open).toMatchObject([{ company, kind: "refusedFiles", closedAt: null, count: files }]);
  // The hour in which they are counted passes, with the daemon away for a moment of it.
  await site.stop();
  ageFiles(3_600_000);
  await site.start();
  await waitFor("the end of the incident", () => web.posts.length === 3);
  expect(query("select kind, count, reopened from incidents")).toEqual([
    { kind: "refusedFiles", count: files, reopened: 0 },
  ]);
  expect(await site.json("alerts")).toEqual([]);
  expect(await site.json("alerts", "--all")).toMatchObject([{ count: files }]);
  await site.stop();
  const [begin, worse, ...more] = smtp.mails.map(subjectOf);
  expect(begin).toContain(`] ${company}: files were refused, since `);
  expect(worse).toContain(`] worse: ${company}: files were refused, since `);
  expect(more).toEqual([]);
  const news = web.posts.map(({ body }) => JSON.parse(body.toString()) as { alerts: { news: string }[] });
  expect(news.map(({ alerts: [first] }) => first?.news)).toEqual(["opened", "worse", "closed"]);
}, 900_000);

/** All that lead through an alert. */
const steps = [
  ...["unit", "commit"].map((kind) => `${kind}@alert-watch.writeSeen`),
  ...["delivery.taken", "delivery.rendered", "delivery.sent"],
  ...["unit", "commit"].map((kind) => `${kind}@outcome-recorder.tryToWrite`),
];

test("each alert comes over a death at each step, and what comes twice has the same id and bytes", async () => {
  const https = { url: web.url, allowPlain: true };
  const missed: string[] = [];
  await site.reconfigure({ alerts: alerts({ https, closeAfterMs: 3_600_000 }) });
  for (const [at, step] of sampled(steps, 3).entries()) {
    // Each death has an incident of its own, in a state of its own.
    if (at > 0) {
      await site.end();
      site = await Site.make({ security: lenient, inbound: { ...oneParser, settleMs: 100, scanMs: 500 } });
      await site.reconfigure({ alerts: alerts({ https, closeAfterMs: 3_600_000 }) });
    }
    const [mailsBefore, postsBefore] = [smtp.mails.length, web.posts.length];
    const run = await site.start({ env: { DROPGATE_KILL_POINT: step } });
    putRefused("K1");
    if ((await run.exit) !== killedExitCode) missed.push(step);
    await site.start();
    const isDone = () => query("select 1 from deliveries where state = 'delivered'").length === 2;
    await waitFor(`the alert after a death at ${step}`, isDone);
    expect(query("select kind, reopened from incidents"), step).toEqual([
      { kind: "refusedFiles", reopened: 0 },
    ]);
    expect(query("select id from alert_notices"), step).toHaveLength(1);
    const guids = query<{ guid: string }>("select guid from deliveries order by id").map(({ guid }) => guid);
    const mails = smtp.mails.slice(mailsBefore);
    const posts = web.posts.slice(postsBefore);
    expect(new Set(mails.map((mail) => headerOf(mail, "Message-ID"))), step).toEqual(
      new Set([`<${guids[0]}@example.com>`]),
    );
    expect(new Set(posts.map(({ headers }) => headers["x-dropgate-delivery"])), step).toEqual(
      new Set([guids[1]]),
    );
    expect(new Set(mails.map(({ source }) => source)).size, step).toBe(1);
    expect(new Set(posts.map(({ body }) => body.toString())).size, step).toBe(1);
    await site.stop();
  }
  expect(missed).toEqual([]);
});

test("the commands list incidents with what to do, and send a test to each receiver", async () => {
  const none = await site.cli("alert", "test");
  expect([none.exitCode, none.output]).toEqual([2, expect.stringContaining("the daemon does not run")]);
  const https = { url: web.url, allowPlain: true };
  await site.reconfigure({ alerts: alerts({ https, closeAfterMs: 3_600_000 }) });
  await site.start();
  expect(await site.mustRun("alerts")).toContain("There is no open incident.");
  putRefused("C1");
  await waitFor("the mail", () => smtp.mails.length === 1);
  const list = await site.mustRun("alerts");
  expect(list).toMatch(new RegExp(`1 +${company} +files were refused`));
  expect(list).toContain("1 stop file was refused.");
  expect(list).toContain(`${fileName("C1")}: 951`);
  expect(list).toContain(`What to do: \`dropgate files --company ${company} --state refused`);
  expect(await site.json("alerts", "--company", company)).toHaveLength(1);
  expect(await (await fetch(`${site.http}/metrics`)).text()).toContain(
    'dropgate_open_incidents{kind="refusedFiles"} 1',
  );
  const sent = await site.json<readonly TestOutcome[]>("alert", "test");
  expect(sent).toMatchObject([
    { company: null, receiver: "ops@example.com", state: "delivered" },
    { company: null, receiver: "https", state: "delivered" },
  ]);
  expect(smtp.mails.map(subjectOf).at(-1)).toBe("[dropgate test] test of alerts");
  expect(JSON.parse(web.posts.at(-1)?.body.toString() ?? "")).toMatchObject({
    type: "dropgate.test",
    alerts: [],
  });
  smtp.script((command) => (command === "RCPT TO" ? "550 no such user" : undefined));
  const refused = await site.cli("alert", "test");
  expect(refused.exitCode).toBe(1);
  expect(refused.output).toMatch(/ops@example\.com.*dead.*no such user/);
  // An alert that nobody takes is no cause for another one.
  const seenAt = () => query<{ at: number }>("select max(seen_at) as at from incidents")[0]?.at ?? 0;
  const refusedAt = seenAt();
  await waitFor("two more scans", () => seenAt() > refusedAt + 1_000);
  expect(await site.json("alerts")).toHaveLength(1);
  await site.stop();
});

test("a new address hears at once of what is open, once over kill -9; what waits for one that has left ends", async () => {
  const told = (to: readonly string[], rest: Settings = {}) =>
    site.reconfigure({ alerts: { ...alerts({ closeAfterMs: 3_600_000, ...rest }), to } });
  const addressees = () => smtp.mails.flatMap(({ to }) => to).toSorted();
  const [ops, night, late] = ["ops@example.com", "night@example.com", "late@example.com"];
  await told([ops]);
  await site.start();
  putRefused("N1");
  await waitFor("the first mail", () => smtp.mails.length === 1);
  await site.stop();
  // No scan but that of the reload.
  await told([ops], { checkEveryMs: 3_600_000 });
  await site.start();
  await told([ops, night], { checkEveryMs: 3_600_000 });
  site.daemon.process.kill("SIGHUP");
  const delivered = () => query("select 1 from deliveries where state = 'delivered'").length;
  await waitFor("the mail to the new address", () => delivered() === 2);
  await site.kill();
  smtp.script((command) => (command === "greeting" ? "421 busy" : undefined));
  await told([ops, night, late]);
  await site.start();
  const undelivered = () => query("select 1 from deliveries where state = 'waiting' and attempts > 0");
  await waitFor("the mail that waits", () => undelivered().length === 1);
  await site.reconfigure({ alerts: { https: { url: web.url, allowPlain: true }, checkEveryMs: 1_000 } });
  site.daemon.process.kill("SIGHUP");
  await waitFor("the web service", () => web.posts.length === 1);
  smtp.script(() => undefined);
  const [last] = await site.json<readonly DeliveryView[]>("deliveries", "--channel", "email");
  expect(last).toMatchObject({ receiver: late, state: "dropped", fault: "notConfigured" });
  expect(await site.mustRun("deliveries", "--channel", "email")).toContain(`json to ${late}`);
  expect(await site.mustRun("delivery", "show", String(last?.id))).toMatch(/Receiver +late@example\.com/);
  await site.stop();
  expect(addressees()).toEqual([night, ops]);
});

test("what is wrong in the section alerts is told by check", async () => {
  await site.reconfigure({ alerts: { to: ["ops@example.com"] } });
  const check = await site.cli("check");
  expect(check.exitCode).toBe(2);
  expect(check.output).toContain("alerts.to: cannot be told: alerts.email says by which server");
  await site.reconfigure({ alerts: alerts() });
  smtp.script((command) => (command === "EHLO" ? "421 not now" : undefined));
  const remote = await site.cli("check", "--remote");
  expect(remote.output).toContain("alerts.email");
});
