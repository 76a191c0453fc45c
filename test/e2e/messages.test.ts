/**
 * Customer messages of the real program: over kill -9 at each step nothing is lost, and what comes twice has the same
 * Message-ID; settings that a reload brings; opt-out and check from the command line.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { company, lenient, oneParser, type Settings, Site } from "../support/daemon.ts";
import { importLoads, outcome, post } from "../support/gateway-client.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { sampled } from "../support/sampled.ts";
import { headerOf, type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { patienceMs, waitFor } from "../support/wait-for.ts";
import { killedExitCode } from "./crash-host.ts";
import { rowsOf } from "../support/site-database.ts";

/** All that lead through a message. */
const steps = [
  ...["unit", "commit"].map((kind) => `${kind}@report-route-event.reportRouteEvent`),
  ...["delivery.taken", "delivery.rendered", "delivery.sent"],
  ...["unit", "commit"].map((kind) => `${kind}@outcome-recorder.tryToWrite`),
];
const allDeaths = steps.flatMap((step) => [1, 3].map((nth) => `${step}:${nth}`));
const deaths = sampled(allDeaths, 3);
const connections = 2;
const stopsOnLoad = 3;

let site: Site;
let smtp: SmtpServer;
let sms: Receiver;

function messages(events: Settings): Settings {
  const password = "env:DROPGATE_TEST_SMTP";
  return {
    email: {
      ...{ host: "127.0.0.1", port: smtp.port, tls: "none", user: "dropgate", password },
      ...{ from: "orders@acme.example", connections },
    },
    sms: { url: sms.url, allowPlain: true, connections, body: '{"to": "{{to}}", "text": "{{text}}"}' },
    events,
  };
}

const told = {
  email: { subject: "{{tracking.reference}}", text: "{{stop.contact.contactName}}" },
  sms: { text: "{{stop.stopNbr}}" },
};

async function configure(events: Settings): Promise<void> {
  await site.reconfigure({ companies: { [company]: { messages: messages(events) } } });
}

beforeAll(async () => {
  vi.stubEnv("DROPGATE_TEST_SMTP", "geheim-smtp");
  smtp = await startSmtpServer({ account: { user: "dropgate", password: "geheim-smtp" } });
  sms = await startReceiver();
  site = await Site.make({ security: lenient, inbound: oneParser });
  await site.addUser("ann", ["DI_Driver"]);
  await configure({ 7007: told });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await site.end();
  await Promise.all([smtp.end(), sms.end()]);
  expect(site.runs.map(({ text }) => text).join("")).not.toContain("geheim-smtp");
});

function report(routeNbr: string, eventCode: string, stopNbr?: string): Promise<string> {
  const geoStamp = { eventDTTM: "2026-11-05T09:00:00", eventTz: "UTC" };
  const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
  return outcome(
    post(site, "/v5/event/route", { eventCode, geoStamp, routeNbr, ...data }, { userName: "ann" }),
  );
}

const contact = { contactName: "Ann Hill", email: "ann@customer.example", sms: "+491701234567" };

/** Loads under way, each with some stops of one customer. */
async function depart(loadNbrs: readonly string[]): Promise<void> {
  const loads = loadNbrs.map((loadNbr) => ({
    loadHeader: { loadNbr },
    stops: stopsOf(loadNbr).map((stopNbr) => ({ stopNbr, stopType: "DO", to: { contact } })),
    loadAssignment: { driverUserName: "ann" },
  }));
  await importLoads(site, loads);
  for (const loadNbr of loadNbrs)
    for (const code of ["route.initiated", "route.origin.depart"])
      expect(await report(loadNbr, code)).toBe("200");
}

function stopsOf(loadNbr: string): readonly string[] {
  return Array.from({ length: stopsOnLoad }, (_, at) => `${loadNbr}-${at}`);
}

function arrive(stopNbr: string): Promise<string> {
  return report(stopNbr.split("-")[0] ?? "", "stop.dropoff.arrival", stopNbr);
}

interface Row {
  readonly guid: string;
  readonly state: string;
  readonly channel: string;
  readonly stop_nbr: string;
}

function rows(): readonly Row[] {
  const sql = `select d.guid, d.state, m.channel, m.stop_nbr from deliveries d
    join messages m on m.id = d.subject_id where d.kind = 'message' order by d.id`;
  return rowsOf(site, sql);
}

/** The daemon dies at the point while the driver arrives; the driver does not know what was taken. */
async function dieAt(death: string, loadNbr: string): Promise<boolean> {
  const run = await site.start({ env: { DROPGATE_KILL_POINT: death } }).catch(() => undefined);
  if (run === undefined) return (await site.daemon.exit) === killedExitCode;
  const arrivals = stopsOf(loadNbr).map((stopNbr) => arrive(stopNbr).catch(() => undefined));
  const late = new Promise((resolve) => setTimeout(resolve, patienceMs).unref());
  await Promise.race([run.exit, late]);
  await Promise.all(arrivals);
  if (site.isRunning) await site.kill();
  return run.exitCode === killedExitCode;
}

test("each message goes out over a death at each step, and what comes twice has the same Message-ID", async () => {
  const loadNbrs = deaths.map((_, at) => `D${at}`);
  await site.start();
  await depart(loadNbrs);
  await site.stop();
  const missed: string[] = [];
  for (const [at, death] of deaths.entries()) if (!(await dieAt(death, `D${at}`))) missed.push(death);
  await site.start();
  for (const stopNbr of loadNbrs.flatMap(stopsOf)) expect(await arrive(stopNbr)).toBe("200");
  await waitFor("all to be sent", () => rows().every(({ state }) => state === "delivered"));
  const wanted = loadNbrs.flatMap(stopsOf).flatMap((stopNbr) => [`${stopNbr} email`, `${stopNbr} sms`]);
  expect(
    rows()
      .map(({ stop_nbr, channel }) => `${stop_nbr} ${channel}`)
      .toSorted(),
  ).toEqual(wanted.toSorted());
  const guids = (channel: string) => rows().flatMap((row) => (row.channel === channel ? [row.guid] : []));
  const emailIds = new Set(guids("email").map((guid) => `<${guid}@acme.example>`));
  expect(new Set(smtp.mails.map((mail) => headerOf(mail, "Message-ID")))).toEqual(emailIds);
  expect(new Set(sms.posts.map(({ headers }) => headers["idempotency-key"]))).toEqual(new Set(guids("sms")));
  // What was on its way at a death comes again, the very same.
  expect(new Set(smtp.mails.map(({ source }) => source)).size).toBe(emailIds.size);
  expect(smtp.mails.length - emailIds.size).toBeLessThanOrEqual(deaths.length * connections);
  expect(missed).toEqual([]);
  await site.stop();
});

test("a reload brings templates; opt-out and check work from the command line", async () => {
  await site.reconfigure({ companies: {} });
  await site.start();
  await depart(["R0", "R1"]);
  const before = rows().length;
  expect(await arrive("R0-0")).toBe("200");
  expect(rows()).toHaveLength(before);
  await configure({ 7007: told });
  site.daemon.process.kill("SIGHUP");
  await site.daemon.waitForLog(({ msg }) => msg === "configuration reloaded");
  const sentBefore = smtp.mails.length;
  expect(await arrive("R0-1")).toBe("200");
  await waitFor("the e-mail", () => smtp.mails.length === sentBefore + 1);
  await site.mustRun("messages", "opt-out", "add", "Ann@Customer.example");
  await site.mustRun("messages", "opt-out", "add", "+49 170 1234567", "--company", company.toLowerCase());
  expect(await site.mustRun("messages", "opt-out", "add", "ann@customer.example")).toContain("already");
  const list = await site.json<readonly { address: string }[]>("messages", "opt-out", "list");
  expect(list.map(({ address }) => address)).toEqual(["+491701234567", "ann@customer.example"]);
  const queued = rows().length;
  expect(await arrive("R1-0")).toBe("200");
  expect(rows()).toHaveLength(queued);
  await site.mustRun("messages", "opt-out", "remove", "ann@customer.example");
  expect(await site.mustRun("messages", "opt-out", "remove", "ann@customer.example")).toContain("was not");
  expect(await arrive("R1-1")).toBe("200");
  await waitFor("the next e-mail", () => smtp.mails.length === sentBefore + 2);
  expect((await site.cli("messages", "opt-out", "add", "nobody")).exitCode).toBe(2);
  await site.stop();
});

test("check --remote signs in to the SMTP server, and sends nothing", async () => {
  const sentBefore = smtp.mails.length;
  await configure({ 7007: told });
  const good = await site.cli("check", "--remote");
  expect(good.output).toContain(`the target messages.email of ${company} can be reached and signed in to`);
  smtp.script((command) => (command === "AUTH" ? "535 5.7.8 wrong" : undefined));
  const bad = await site.cli("check", "--remote");
  expect(bad.exitCode).toBe(2);
  expect(bad.output).toContain("credentials");
  smtp.script(() => undefined);
  expect(smtp.mails).toHaveLength(sentBefore);
});
