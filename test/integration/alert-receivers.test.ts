/** Receivers of alerts that come and go with the configuration: whoever is new hears of what is open, once. */
import { describe, expect, test } from "vitest";
import { saveOutboundSettings } from "../../src/app/daemon/outbound-settings.ts";
import { listUndeliveredAlerts } from "../../src/store/outbound/undelivered-alerts.ts";
import { AlertSite, finding, subjectOf } from "../support/alert-site.ts";
import type { SmtpScript } from "../support/smtp-server.ts";

const busy: SmtpScript = (command) => (command === "greeting" ? "421 busy" : undefined);
const hour = 60;

/** Who was told what, in the order of the mails: `ops: over: ACME: files were refused`. */
function mailsOf(site: AlertSite): readonly string[] {
  return site.smtp.mails.map((mail) => {
    const what = subjectOf(mail)
      .replace("[dropgate test] ", "")
      .replace(/, since .*?\)/, "");
    return `${mail.to.join().replace(/@.*/, "")}: ${what}`;
  });
}

function deliveriesOf(site: AlertSite) {
  return site.store.read
    .selectFrom("deliveries")
    .select(["order_key as to", "state", "fault", "fault_text as why"])
    .orderBy("id")
    .execute();
}

function newsTo(site: AlertSite): readonly string[] {
  const bodies = site.web.posts.map(
    ({ body }) => JSON.parse(body.toString()) as { alerts: { news: string }[] },
  );
  return bodies.flatMap(({ alerts }) => alerts.map(({ news }) => news));
}

const refused = "ACME: files were refused";

describe("a new address", () => {
  const to = (...names: readonly string[]) => ({ to: names.map((name) => `${name}@example.com`) });

  test("hears at once of the incidents that are open, and whoever was told gets no second mail", async () => {
    const site = await AlertSite.open(to("ops"));
    site.find([finding()]);
    site.find([finding({ cause: "tms" })], "deadLetters");
    await site.look();
    await site.configure(to("ops", "night"));
    await site.pass(hour);
    expect(mailsOf(site)).toEqual([`ops: ${refused}, and 1 more`, `night: ${refused}, and 1 more`]);
    // What is common to both goes to both, in one notice.
    site.find([]);
    await site.pass(hour);
    expect(mailsOf(site).slice(2).toSorted()).toEqual([`night: over: ${refused}`, `ops: over: ${refused}`]);
    const notices = await site.store.read.selectFrom("alert_notices").select("id").execute();
    expect(notices).toHaveLength(3);
  });

  test("in the place of a wrong one hears of them, also after a restart", async () => {
    const site = await AlertSite.open(to("osp"));
    site.smtp.script((command, line) =>
      command === "RCPT TO" && line.includes("osp@") ? "550 no" : undefined,
    );
    site.find([finding()]);
    await site.look();
    expect((await deliveriesOf(site))[0]).toMatchObject({ to: "osp@example.com", state: "dead" });
    await site.configure(to("ops"));
    site.watch = site.newWatch();
    await site.pass(3);
    expect(mailsOf(site)).toEqual([`ops: ${refused}`]);
    expect((await deliveriesOf(site))[0]).toMatchObject({ state: "dropped", fault: "notConfigured" });
  });

  test("is not told of what was over before it came, and is reminded with the others", async () => {
    const site = await AlertSite.open(to("ops"));
    site.find([finding({ cause: "tms" })], "deadLetters");
    await site.look();
    site.find([], "deadLetters");
    await site.pass(20);
    site.find([finding()]);
    await site.look();
    site.smtp.mails.length = 0;
    await site.configure(to("ops", "night"));
    await site.pass(2);
    expect(mailsOf(site)).toEqual([`night: ${refused}`]);
    await site.pass(24 * hour, 30);
    expect(mailsOf(site).slice(1).toSorted()).toEqual([`night: still: ${refused}`, `ops: still: ${refused}`]);
  });

  test("hears of what is not urgent when the quiet hours are over", async () => {
    const quietHours = [{ from: "20:00", to: "07:00" }];
    const site = await AlertSite.open({ ...to("ops"), quietHours });
    site.find([finding()]);
    await site.look();
    await site.pass(13 * hour, 30);
    site.find([finding({ cause: "host" })], "pausedTarget");
    await site.configure({ ...to("ops", "night"), quietHours });
    await site.pass(1);
    const paused = "ACME: a target takes nothing (host)";
    expect(mailsOf(site)).toEqual([`ops: ${refused}`, `ops: ${paused}`, `night: ${paused}`]);
    await site.pass(10.5 * hour, 30);
    expect(mailsOf(site).slice(3)).toContain(`night: ${refused}`);
    expect(mailsOf(site).filter((mail) => mail.startsWith("ops: "))).toHaveLength(2);
  });

  test("that was taken out while its mail waited hears of it when it is back", async () => {
    const site = await AlertSite.open(to("ops", "night"));
    site.smtp.script(busy);
    site.find([finding()]);
    await site.look();
    await site.configure(to("ops"));
    await site.configure(to("ops", "night"));
    site.smtp.script(() => undefined);
    await site.pass(hour);
    expect(mailsOf(site).toSorted()).toEqual([`night: ${refused}`, `ops: ${refused}`]);
  });

  test("that was told, taken out and put back is told nothing twice", async () => {
    const site = await AlertSite.open(to("ops", "night"));
    site.find([finding()]);
    await site.look();
    await site.configure(to("ops"));
    await site.pass(1);
    await site.configure(to("ops", "night"));
    await site.pass(hour);
    expect(mailsOf(site).toSorted()).toEqual([`night: ${refused}`, `ops: ${refused}`]);
  });
});

describe("a web service", () => {
  const https = (site: AlertSite, path: string) => ({
    ...{ email: undefined, to: [] },
    https: { url: new URL(path, site.web.url).href, allowPlain: true },
  });

  test("at another URL hears of what is open, and what still waits for it comes once", async () => {
    const site = await AlertSite.open();
    await site.configure(https(site, "/one"));
    site.find([finding()]);
    await site.look();
    await site.configure(https(site, "/one"));
    await site.pass(2);
    expect(newsTo(site)).toEqual(["opened"]);
    await site.configure(https(site, "/two"));
    await site.pass(2);
    expect(newsTo(site)).toEqual(["opened", "opened"]);
    expect(site.web.posts.map(({ path }) => path)).toEqual(["/one", "/two"]);
  });

  test("whose first URL nobody answers gets at the right one what waits, and nothing twice", async () => {
    const site = await AlertSite.open();
    const nowhere = { https: { url: "http://127.0.0.1:1/", allowPlain: true }, email: undefined, to: [] };
    await site.configure(nowhere);
    site.find([finding()]);
    await site.look();
    expect((await deliveriesOf(site))[0]).toMatchObject({ state: "waiting", fault: "unreachable" });
    await site.configure(https(site, "/"));
    await site.pass(hour);
    expect(newsTo(site)).toEqual(["opened"]);
  });
});

describe("what waits for an audience that is told no more", () => {
  const ofAcme = { alerts: { to: ["orders@acme.example"] } };
  const ended = { state: "dropped", fault: "notConfigured" };

  test("ends with why, at once, is sent to nobody, and leaves nothing behind at the target", async () => {
    const site = await AlertSite.open({}, ofAcme);
    site.smtp.script(busy);
    site.find([finding()]);
    await site.look();
    expect(await listUndelivered(site)).toHaveLength(2);
    await site.configure({ email: undefined, to: [] });
    const why = "the configuration no longer names this receiver of alerts";
    expect(await deliveriesOf(site)).toMatchObject([
      { to: "ops@example.com", ...ended, why },
      { to: "orders@acme.example", ...ended, why },
    ]);
    const targets = await site.store.read
      .selectFrom("outbound_targets")
      .select(["open_count as open", "dead_count as dead"])
      .execute();
    expect(targets.every(({ open, dead }) => open === 0 && dead === 0)).toBe(true);
    site.smtp.script(() => undefined);
    await site.pass(hour);
    expect(site.smtp.mails).toEqual([]);
  });

  test("ends at the next start, when the configuration was changed meanwhile; what others wait for stays", async () => {
    const site = await AlertSite.open({}, ofAcme);
    site.smtp.script(busy);
    site.find([finding()]);
    await site.look();
    await site.look();
    const without = { ...site.config, companies: {} };
    await saveOutboundSettings(site.store, without);
    expect(await deliveriesOf(site)).toMatchObject([
      { to: "ops@example.com", state: "waiting" },
      { to: "orders@acme.example", ...ended },
    ]);
  });

  function listUndelivered(site: AlertSite) {
    return site.store.write("site", listUndeliveredAlerts);
  }
});

test("the operator reads which commands help, and the people of a company what they can do themselves", async () => {
  const site = await AlertSite.open();
  const ofAcme = { alerts: { to: ["orders@acme.example"], https: { url: site.web.url, allowPlain: true } } };
  await site.configure({}, ofAcme);
  const remedy = "`dropgate remote retry partner` fetches at once";
  site.find([finding({ cause: "partner", remedy })], "failingRemote");
  await site.look();
  const textTo = (address: string) =>
    site.smtp.mails.find(({ to }) => to.includes(address))?.source.replaceAll(/=?\r?\n/g, "") ?? "";
  expect(textTo("ops@example.com")).toContain(`What to do: ${remedy}.`);
  expect(textTo("orders@acme.example")).toContain(
    "What to do: when the server is yours, see whether it runs",
  );
  expect(textTo("orders@acme.example")).not.toContain("dropgate remote");
  const [post] = site.web.posts;
  expect(post?.body.toString()).toContain('"remedy":"when the server is yours, see whether it runs');
  expect(post?.body.toString()).not.toContain("dropgate remote");
});
