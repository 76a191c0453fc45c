/** Incidents from their first sign to their end, and what is told of them, by a clock that the test sets. */
import { describe, expect, test } from "vitest";
import { pruneAlerts } from "../../src/app/alerts/prune-alerts.ts";
import { given } from "../../src/lib/given.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { listClosedIncidents, listOpenIncidents } from "../../src/store/alerts/incidents.ts";
import { AlertSite, finding } from "../support/alert-site.ts";
import { dayMs } from "../../src/lib/durations.ts";

const hour = 60;
const prefix = "[dropgate test]";
const refused = "ACME: files were refused, since 2026-11-05 08:00 (UTC)";

describe("an incident", () => {
  test("is told when it opens, once a day while it lasts, and when it has been over for a while", async () => {
    const site = await AlertSite.open();
    await site.look();
    expect(site.subjects).toEqual([]);
    site.find([finding()]);
    await site.look();
    await site.pass(23 * hour, 30);
    expect(site.subjects).toEqual([`${prefix} ${refused}`]);
    await site.pass(2 * hour, 30);
    expect(site.subjects).toEqual([`${prefix} ${refused}`, `${prefix} still: ${refused}`]);
    site.find([]);
    await site.pass(14);
    expect(site.subjects).toHaveLength(2);
    expect(site.watch.openCounts().get("refusedFiles")).toBe(1);
    await site.pass(1);
    expect(site.subjects).toEqual([
      `${prefix} ${refused}`,
      `${prefix} still: ${refused}`,
      `${prefix} over: ${refused}`,
    ]);
    expect(site.watch.openCounts().size).toBe(0);
    await site.pass(48 * hour, 60);
    expect(site.subjects).toHaveLength(3);
  });

  test("is told with what happened, how many, examples and what to do", async () => {
    const site = await AlertSite.open();
    const samples = ["a.xml: 104 wrong\r\nBcc: evil@example.com", "b.xml: 105"];
    site.find([finding({ samples, count: 7, summary: "7 stop files were refused" })]);
    await site.look();
    const [mail] = site.smtp.mails;
    expect(mail?.to).toEqual(["ops@example.com"]);
    expect(mail?.source).toContain("7 stop files were refused.");
    expect(mail?.source).toContain("How many: 7");
    expect(mail?.source).toContain("a.xml: 104 wrong Bcc: evil@example.com");
    expect(mail?.source).toContain("dropgate files --state refused");
  });

  test("counts on without another mail, however often its cause shows", async () => {
    const site = await AlertSite.open();
    for (let count = 1; count <= 10_000; count += 1_000) {
      site.find([finding({ count })]);
      await site.pass(1);
    }
    expect(site.subjects).toHaveLength(1);
    expect(await listOpenIncidents(site.store.read)).toMatchObject([{ count: 9_001, reopened: 0 }]);
  });

  describe("that becomes a flood", () => {
    const subjects = (site: AlertSite) => site.subjects.map((subject) => subject.replace(/ACME: .*/, ""));
    const newsTo = (site: AlertSite) =>
      site.web.posts.flatMap(({ body }) =>
        (JSON.parse(body.toString()) as { alerts: { news: string }[] }).alerts.map(({ news }) => news),
      );
    const openSite = async () => {
      const site = await AlertSite.open();
      await site.configure({ https: { url: site.web.url, allowPlain: true } });
      return site;
    };

    test("is told as worse, and mails leave out its end; web services get it", async () => {
      const site = await openSite();
      site.find([finding({ level: 1 })]);
      await site.pass(5);
      for (const level of [2, 1, 2]) {
        site.find([finding({ count: 10_000, level })]);
        await site.pass(5);
      }
      site.find([]);
      await site.pass(60);
      expect(await listOpenIncidents(site.store.read)).toEqual([]);
      expect(subjects(site)).toEqual([`${prefix} `, `${prefix} worse: `]);
      expect(newsTo(site)).toEqual(["opened", "worse", "closed"]);
    });

    test("and was one at its first scan is told when it begins and when it is over", async () => {
      const site = await openSite();
      site.find([finding({ count: 10_000, level: 2 })]);
      await site.pass(5);
      site.find([]);
      await site.pass(60);
      expect(subjects(site)).toEqual([`${prefix} `, `${prefix} over: `]);
      expect(newsTo(site)).toEqual(["opened", "closed"]);
    });

    test("of deliveries that were given up, is mailed to its end", async () => {
      const site = await openSite();
      for (const level of [1, 2]) {
        site.find([finding({ cause: "tms", level })], "deadLetters");
        await site.pass(1);
      }
      site.find([], "deadLetters");
      await site.pass(60);
      expect(subjects(site)).toEqual([`${prefix} `, `${prefix} worse: `, `${prefix} over: `]);
    });
  });

  test("that comes and goes is the same one, which has to be gone for longer and longer", async () => {
    const site = await AlertSite.open();
    for (let round = 0; round < 30; round += 1) {
      site.find([finding()]);
      await site.pass(1);
      site.find([]);
      await site.pass(20);
    }
    // Twenty minutes are longer than a quarter of an hour, and shorter than half an hour.
    expect(site.subjects.map((subject) => subject.replace(/files were refused.*/, ""))).toEqual([
      `${prefix} ACME: `,
      `${prefix} over: ACME: `,
      `${prefix} again: ACME: `,
    ]);
    expect(await listOpenIncidents(site.store.read)).toMatchObject([{ id: 1, reopened: 1 }]);
  });

  test("that has got worse is told at once", async () => {
    const site = await AlertSite.open();
    const [kind, code] = ["diskSpace", "(operator)"] as const;
    site.find([finding({ summary: "little is free" })], kind, code);
    await site.look();
    site.find([finding({ summary: "nothing is free", level: 2 })], kind, code);
    await site.pass(5);
    expect(site.subjects).toEqual([
      `${prefix} test: the disk is getting full, since 2026-11-05 08:00 (UTC)`,
      `${prefix} worse: test: the disk is getting full, since 2026-11-05 08:00 (UTC)`,
    ]);
  });

  test("stays as it is while nobody can look, and the log says so once", async () => {
    const site = await AlertSite.open();
    site.find([finding()]);
    await site.look();
    site.find(new Error("no answer"));
    await site.pass(60);
    expect(site.subjects).toHaveLength(1);
    expect(await listOpenIncidents(site.store.read)).toHaveLength(1);
    expect(site.lines.filter(({ msg }) => msg.includes("cannot be looked for"))).toHaveLength(1);
  });

  test("of one company is found while nobody can look in another", async () => {
    const site = await AlertSite.open();
    await site.store.write("site", (tx) => insertCompany(tx, { code: "OTHER", createdAt: 1 }));
    site.find(new Error("no answer"));
    site.find([finding()], "refusedFiles", "OTHER");
    await site.look();
    await site.pass(3);
    expect(site.subjects).toEqual([`${prefix} ${refused.replace("ACME", "OTHER")}`]);
    const told = site.lines.filter(({ msg }) => msg.includes("cannot be looked for"));
    expect(told).toMatchObject([{ kind: "refusedFiles", company: "ACME" }]);
  });

  test("is closed without a word when it is no longer to be looked for", async () => {
    const site = await AlertSite.open();
    site.find([finding()]);
    await site.look();
    await site.configure({ kinds: { refusedFiles: { enabled: false } } });
    await site.pass(1);
    expect(await listOpenIncidents(site.store.read)).toEqual([]);
    expect(site.subjects).toHaveLength(1);
  });

  test("opened while the clock was ahead is reminded of and closed by the right time", async () => {
    const site = await AlertSite.open();
    const right = site.now;
    site.now = right + 3_650 * dayMs;
    site.find([finding()]);
    await site.look();
    site.now = right;
    await site.look();
    expect(site.subjects[1]).toMatch(/still: /);
    site.find([]);
    await site.pass(16);
    expect(await listOpenIncidents(site.store.read)).toEqual([]);
  });
});

test("notices and ends from a clock that was ahead count for nothing now", async () => {
  const site = await AlertSite.open({ maxPerHour: 1 });
  const right = site.now;
  site.now = right + 400 * dayMs;
  site.find([finding()]);
  await site.look();
  site.find([]);
  await site.pass(20);
  expect(site.subjects).toHaveLength(1);
  site.now = right;
  const isThere = (until?: number) =>
    listClosedIncidents(site.store.read, { since: 0, ...given({ until }), limit: 9 });
  expect([await isThere(), await isThere(right)]).toMatchObject([[{ kind: "refusedFiles" }], []]);
  site.find([finding({ cause: "tms" })], "deadLetters");
  await site.pass(1);
  expect(site.subjects).toHaveLength(2);
  expect(site.subjects[1]).toMatch(/deliveries were given up \(tms\), since [^,]*$/);
});

test("what cannot be put in the queue, as a target is not there yet, stays news", async () => {
  const site = await AlertSite.open();
  const setConfigured = (is_configured: 0 | 1) =>
    site.store.write("site", (tx) => tx.updateTable("outbound_targets").set({ is_configured }).execute());
  await setConfigured(0);
  site.find([finding()]);
  await site.look();
  for (const table of ["alert_notices", "incident_reports", "deliveries"] as const)
    expect(await site.store.read.selectFrom(table).selectAll().execute(), table).toEqual([]);
  await setConfigured(1);
  await site.pass(1);
  expect(site.subjects).toEqual([`${prefix} ${refused}`]);
});

describe("nothing is looked for", () => {
  test("while nobody is to be told", async () => {
    const site = await AlertSite.open({ to: [] });
    site.find([finding()]);
    await site.pass(3);
    expect(await listOpenIncidents(site.store.read)).toEqual([]);
  });
});

describe("who is told", () => {
  const ofAcme = { alerts: { to: ["orders@acme.example"], zone: "Europe/Berlin" } };

  test("a company of its own incidents, the operator of all", async () => {
    const site = await AlertSite.open({}, ofAcme);
    site.find([finding()]);
    site.find([finding()], "diskSpace", "(operator)");
    await site.look();
    const told = site.smtp.mails.map(({ to }, index) => `${to.join()} ${site.subjects[index]}`);
    expect(told.sort()).toEqual([
      `ops@example.com ${prefix} test: the disk is getting full, since 2026-11-05 08:00 (UTC), and 1 more`,
      `orders@acme.example ${prefix} ACME: files were refused, since 2026-11-05 09:00 (Europe/Berlin)`,
    ]);
  });

  test("the company alone when the operator does not want those of companies", async () => {
    const site = await AlertSite.open({ ofCompanies: false }, ofAcme);
    site.find([finding()]);
    await site.look();
    expect(site.smtp.mails.map(({ to }) => to.join())).toEqual(["orders@acme.example"]);
  });

  test("a web service, with JSON and the id of the delivery", async () => {
    const site = await AlertSite.open();
    const https = { url: site.web.url, allowPlain: true };
    await site.configure({ email: undefined, to: [], https });
    site.find([finding()]);
    await site.look();
    const [request] = site.web.posts;
    expect(JSON.parse(request?.body.toString() ?? "")).toMatchObject({
      ...{ type: "dropgate.alerts", version: 1, installation: "test", at: "2026-11-05T08:00:00.000Z" },
      alerts: [
        {
          ...{ news: "opened", incident: 1, kind: "refusedFiles", company: "ACME", cause: "", count: 2 },
          ...{ summary: "2 stop files were refused", since: "2026-11-05T08:00:00.000Z", closed: null },
          samples: ["a.xml: 104 wrong"],
        },
      ],
    });
    expect(request?.headers["x-dropgate-delivery"]).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("quiet hours", () => {
  const quietHours = [{ from: "20:00", to: "07:00" }];

  test("hold back what is not urgent; all of it comes in one notice when they end", async () => {
    const site = await AlertSite.open({ quietHours });
    await site.pass(13 * hour, 60);
    site.find([finding()]);
    site.find([finding({ cause: "tms" }), finding({ cause: "erp" })], "deadLetters");
    await site.pass(30);
    site.find([]);
    await site.pass(2 * hour);
    expect(site.subjects).toEqual([]);
    await site.pass(8 * hour, 30);
    expect(site.subjects).toHaveLength(1);
    expect(site.subjects[0]).toMatch(/ACME: deliveries were given up \(tms\), since .*, and 2 more$/);
    expect(site.smtp.mails[0]?.source).toMatch(/over: ACME: files were/);
    expect(await listClosedIncidents(site.store.read, { since: 0, limit: 9 })).toHaveLength(1);
  });

  test("let urgent kinds pass", async () => {
    const site = await AlertSite.open({ quietHours, kinds: { deadLetters: { urgent: true } } });
    await site.pass(13 * hour, 60);
    site.find([finding()]);
    site.find([finding({ cause: "tms" })], "deadLetters");
    await site.pass(1);
    expect(site.subjects.map((subject) => subject.includes("deliveries were given up (tms)"))).toEqual([
      true,
    ]);
  });
});

test("no more notices than maxPerHour are sent in an hour; the rest comes in one", async () => {
  const site = await AlertSite.open({ maxPerHour: 3 });
  const causes: string[] = [];
  for (let index = 0; index < 30; index += 1) {
    causes.push(`t${index}`);
    site.find(
      causes.map((cause) => finding({ cause })),
      "deadLetters",
    );
    await site.pass(1);
  }
  expect(site.subjects).toHaveLength(3);
  await site.pass(32);
  expect(site.subjects).toHaveLength(4);
  expect(site.subjects[3]).toMatch(/and 26 more$/);
});

test("a notice is in the queue exactly once, whatever process looks, and is kept for the server", async () => {
  const site = await AlertSite.open();
  site.smtp.script((command) => (command === "greeting" ? "421 busy" : undefined));
  site.find([finding()]);
  await site.look();
  for (let start = 0; start < 5; start += 1) {
    // As after a restart: what is known is in the database alone.
    site.watch = site.newWatch();
    await site.watch.look();
  }
  const rows = await site.store.read.selectFrom("deliveries").select(["kind", "state"]).execute();
  expect(rows).toEqual([{ kind: "alert", state: "waiting" }]);
  site.smtp.script(() => undefined);
  await site.pass(15);
  expect(site.subjects).toHaveLength(1);
});

test("a notice that waits for an address goes to it no more once the configuration has another one", async () => {
  const site = await AlertSite.open();
  site.smtp.script((command) => (command === "greeting" ? "421 busy" : undefined));
  site.find([finding()]);
  await site.look();
  await site.configure({ to: ["new@example.com"] });
  site.smtp.script(() => undefined);
  site.find([finding(), finding({ cause: "later" })]);
  await site.pass(15);
  expect(site.smtp.mails.map(({ to }) => to.join())).toEqual(["new@example.com"]);
  const rows = await site.store.read
    .selectFrom("deliveries")
    .select(["order_key as to", "state", "fault"])
    .orderBy("id")
    .execute();
  expect(rows).toMatchObject([
    { to: "ops@example.com", state: "dropped", fault: "notConfigured" },
    { to: "new@example.com", state: "delivered" },
  ]);
});

test("an incident whose notice cannot be written is not there either", async () => {
  const site = await AlertSite.open();
  site.find([finding()]);
  await site.store.write("site", async (tx) => {
    await tx.schema.dropTable("alert_notices").execute();
  });
  await site.watch.look();
  expect(await listOpenIncidents(site.store.read)).toEqual([]);
  expect(site.lines.some(({ msg }) => msg.includes("incidents could not be written"))).toBe(true);
});

test("incidents and notices are removed when they are older than keepDays; open ones stay", async () => {
  const site = await AlertSite.open({ keepDays: 7 });
  site.find([finding()]);
  site.find([finding({ cause: "tms" })], "deadLetters");
  await site.look();
  site.find([]);
  await site.pass(16);
  const prune = (isOurs = () => true) => {
    const deps = { store: site.store, config: () => site.config, isOurs };
    return pruneAlerts(deps, site.now, new AbortController().signal);
  };
  type Table = "incidents" | "incident_reports" | "incident_receivers" | "alert_notices" | "deliveries";
  const countOf = async (table: Table) =>
    (await site.store.read.selectFrom(table).selectAll().execute()).length;
  await prune();
  expect([await countOf("incidents"), await countOf("alert_notices")]).toEqual([2, 2]);
  site.now += 8 * dayMs;
  // By a node that has not the company.
  await prune(() => false);
  expect([await countOf("incidents"), await countOf("alert_notices")]).toEqual([2, 2]);
  await prune();
  expect([await countOf("incidents"), await countOf("incident_reports")]).toEqual([1, 1]);
  expect(await countOf("incident_receivers")).toBe(1);
  expect([await countOf("alert_notices"), await countOf("deliveries")]).toEqual([0, 0]);
});
