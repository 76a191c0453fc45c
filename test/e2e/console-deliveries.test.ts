/** Pages 7 and 8 of the console, and their acts, over HTTP: who sees what, who may do what, and what happens once. */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleBrowser, makeConsoleSite, signInToConsole } from "../support/console.ts";
import { company, type Site } from "../support/daemon.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { waitFor } from "../support/wait-for.ts";
import { rowsOf } from "../support/site-database.ts";

const remote = {
  type: "sftp",
  host: "127.0.0.1",
  port: 9,
  user: "u",
  password: "env:REMOTE_PASSWORD",
  directory: "out",
};
const absent = join(tmpdir(), `no share ${randomUUID()}`);
const settings = {
  inbound: { settleMs: 100, scanMs: 500 },
  companies: {
    [company]: {
      folders: [{ path: absent, label: "warehouse" }],
      remotes: { carrier: { ...remote, hostKeys: [], after: "leave", everyMs: 3_600_000 } },
    },
  },
};

let site: Site;
let admin: ConsoleBrowser;
let guid: string;

interface AuditRow {
  readonly kind: string;
  readonly user_name: string;
  readonly subject: string;
  readonly reason: string;
}

function audit(): readonly AuditRow[] {
  return rowsOf(site, "select * from audit where reason is not null order by id");
}

async function stateOf(id: string): Promise<string | undefined> {
  const shown = JSON.parse(await runInProcess(site, "delivery", "show", id, "--json"));
  return shown.state;
}

beforeAll(async () => {
  site = await makeConsoleSite(settings);
  await runInProcess(site, "export", "--company", company);
  await site.start({ env: { REMOTE_PASSWORD: "p" } });
  admin = await signInToConsole(site, "admin");
  const [first] = JSON.parse(await runInProcess(site, "deliveries", "--json"));
  guid = first.guid;
  await waitFor("the export to be delivered", async () => (await stateOf(guid)) === "delivered");
});

afterAll(() => site.end());

/** The fields that the form of a page carries, the token among them. */
function fieldsOf(page: string): Record<string, string> {
  const fields = page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return Object.fromEntries([...fields].map(([, name = "", value = ""]) => [name, value]));
}

describe("the page of deliveries", () => {
  test("shows the targets with what waits, and each delivery with its state and its way further", async () => {
    const page = await admin.get("/console/deliveries");
    expect(page.status).toBe(200);
    expect(page.body).toContain("Takes deliveries");
    expect(page.body).toContain(`href="/console/deliveries/${guid}"`);
    const one = await admin.get(`/console/deliveries/${guid}`);
    expect(one.status).toBe(200);
    expect(one.body).toContain("export, number 1");
    expect(one.body).toContain("Send again");
    const exports = await admin.get("/console/exports");
    expect(exports.body).toContain(".manifest.xml");
  });

  test("filters by what stands in the address, and says what is wrong with a filter", async () => {
    const dead = await admin.get("/console/deliveries?state=dead");
    expect(dead.body).not.toContain(`/console/deliveries/${guid}"`);
    const delivered = await admin.get("/console/deliveries?state=delivered&kind=export");
    expect(delivered.body).toContain(`/console/deliveries/${guid}"`);
    const wrong = await admin.get("/console/deliveries?state=lost&from=yesterday");
    expect(wrong.status).toBe(400);
    expect(wrong.body).toContain("There is no such state");
    expect(wrong.body).toContain("This is no day");
  });

  test("shows a stranger nothing of it, and answers like for what does not exist", async () => {
    const stranger = await signInToConsole(site, "stranger");
    expect((await stranger.get("/console/deliveries")).body).not.toContain(guid);
    const theirs = await stranger.get(`/console/deliveries/${guid}`);
    const nobodys = await stranger.get(`/console/deliveries/${randomUUID()}`);
    expect([theirs.status, nobodys.status]).toEqual([404, 404]);
    const seenAt = String(Date.now());
    const form = { of: guid, reason: "mine", seenAt };
    await stranger.post("/console/deliveries/act/resend", form);
    for (const path of [`targets/${company}/outbound/pause`, `remotes/${company}/carrier/poll`]) {
      expect((await stranger.get(`/console/${path}`)).status).toBe(404);
      expect((await stranger.post(`/console/${path}`, { reason: "mine", seenAt })).status).toBe(404);
    }
    expect(audit()).toEqual([]);
    expect(await stateOf(guid)).toBe("delivered");
  });
});

describe("acts", () => {
  test("are refused to those who may only look, by the server", async () => {
    const inquiry = await signInToConsole(site, "inquiry");
    const page = await inquiry.get(`/console/deliveries/${guid}`);
    expect(page.status).toBe(200);
    expect(page.body).not.toContain("Send again");
    const form = { of: guid, reason: "let me", seenAt: String(Date.now()) };
    for (const path of ["deliveries/act/resend", `targets/${company}/outbound/pause`]) {
      const reply = await inquiry.post(`/console/${path}`, form);
      expect(reply.status).toBe(403);
      expect(reply.body).toContain("MemberAdmin");
    }
    const operator = await admin.post("/console/deliveries/act/release", form);
    expect(operator.status).toBe(403);
    expect(audit()).toEqual([]);
  });

  test("ask for the reason again when it is missing, at its field, and do nothing", async () => {
    for (const path of ["deliveries/act/resend", `targets/${company}/outbound/pause`]) {
      const reply = await admin.post(`/console/${path}`, {
        of: guid,
        reason: "  ",
        seenAt: String(Date.now()),
      });
      expect(reply.status).toBe(400);
      expect(reply.body).toMatch(/aria-invalid="true"/);
      expect(reply.body).toContain("Give a reason");
    }
    const long = await admin.post("/console/deliveries/act/resend", { of: guid, reason: "x".repeat(501) });
    expect(long.body).toContain("more than 500 characters");
    expect(audit()).toEqual([]);
  });

  test("are done once when their form comes twice, and the second person is told who was quicker", async () => {
    const page = await admin.get(`/console/deliveries/${guid}`);
    const form = { ...fieldsOf(page.body), of: guid, reason: "their disk was lost" };
    const both = await Promise.all([
      admin.post("/console/deliveries/act/resend", form),
      admin.post("/console/deliveries/act/resend", form),
    ]);
    expect(both.map(({ status }) => status)).toEqual([303, 303]);
    expect(both[0]?.headers.get("location")).toBe(`/console/deliveries/${guid}?done=deliveriesResent`);
    await waitFor("it to be delivered again", async () => (await stateOf(guid)) === "delivered");
    const operator = await signInToConsole(site, "operator");
    const { formToken } = operator;
    const second = await operator.post("/console/deliveries/act/resend", { ...form, formToken });
    expect(second.status).toBe(409);
    expect(second.body).toContain("it was sent again by admin at");
    expect(audit()).toMatchObject([
      { kind: "delivery.resend", user_name: "admin", reason: "their disk was lost" },
    ]);
    const shown = JSON.parse(await runInProcess(site, "delivery", "show", guid, "--json"));
    expect(shown.repeats).toHaveLength(1);
  });

  test("show first what they are about when something was chosen in the list", async () => {
    const reply = await admin.post("/console/deliveries/act/give-up", { of: guid });
    expect(reply.status).toBe(200);
    expect(reply.body).toContain("One delivery.");
    expect(reply.body).toContain("These are not sent");
    const gone = randomUUID();
    const part = { of: [guid, gone].join(","), reason: "as far as it goes", seenAt: String(Date.now()) };
    const told = await admin.post("/console/deliveries/act/give-up", part);
    expect(told.body).toContain(`href="/console/deliveries/${gone}"`);
    expect(told.body).toContain("there is no such thing");
    const none = await admin.post("/console/deliveries/act/give-up", {});
    expect(none.body).toContain("Nothing is chosen");
  });

  test("pause a target for the commands too, and resume it", async () => {
    const path = `/console/targets/${company}/outbound/pause`;
    const asked = await admin.get(path);
    expect(asked.status).toBe(200);
    const form = { ...fieldsOf(asked.body), reason: "their system moves" };
    const done = await admin.post(path, form);
    expect(done.headers.get("location")).toBe("/console/deliveries?done=targetPaused");
    expect((await admin.post(path, form)).status).toBe(303);
    expect((await admin.get("/console/deliveries")).body).toContain("Paused by admin");
    expect(await runInProcess(site, "target", "list")).toMatch(
      /paused by admin since .*: their system moves/,
    );
    await runInProcess(site, "export", "--company", company);
    const [newest] = JSON.parse(await runInProcess(site, "deliveries", "--json"));
    const other = await admin.get(`/console/deliveries/${newest.guid}`);
    expect(other.body).toContain("Paused by admin");
    expect(await stateOf(newest.guid)).toBe("waiting");
    const resumed = await admin.post(`/console/targets/${company}/outbound/resume`, {
      ...form,
      seenAt: String(Date.now()),
    });
    expect(resumed.status).toBe(303);
    await waitFor("it to be delivered", async () => (await stateOf(newest.guid)) === "delivered");
    expect(audit().map(({ kind }) => kind)).toEqual(["delivery.resend", "target.pause", "target.resume"]);
  });

  test("deliver an export again, once for each look at it", async () => {
    const path = `/console/exports/${company}/completions/1/again`;
    const exports = await admin.get("/console/exports");
    const [, found] = /href="(\/console\/exports\/[^"]+\/1\/again)"/.exec(exports.body) ?? [];
    const again = found ?? path;
    const asked = await admin.get(again);
    expect(asked.status).toBe(200);
    const form = { ...fieldsOf(asked.body), reason: "they lost it" };
    expect((await admin.post(again, form)).status).toBe(303);
    expect((await admin.post(again, form)).status).toBe(303);
    const all = JSON.parse(await runInProcess(site, "deliveries", "--json"));
    expect(all).toHaveLength(3);
    expect((await admin.get(again.replace("/1/", "/99/"))).status).toBe(404);
  });
});

describe("the page of remotes", () => {
  test("shows the fault of the last round with its remedy, and its acts", async () => {
    await waitFor("a round to fail", async () =>
      (await runInProcess(site, "remote", "list")).includes("failing"),
    );
    const page = await admin.get("/console/remotes");
    expect(page.status).toBe(200);
    expect(page.body).toContain("Failing");
    expect(page.body).toContain("What to do:");
    expect(page.body).toContain(`/console/remotes/${company}/carrier/poll`);
    const stranger = await signInToConsole(site, "stranger");
    expect((await stranger.get("/console/remotes")).body).not.toContain("carrier");
  });

  test("shows each folder with when it was looked at, its fault, and what stays in it", async () => {
    await writeFile(site.path("inbound", "4711_20261105_080000.xml.part"), "<Stop>");
    const bodyFor = async (browser: ConsoleBrowser) => (await browser.get("/console/remotes")).body;
    await waitFor("the file to be seen", async () => (await bodyFor(admin)).includes(".xml.part"));
    const body = await bodyFor(admin);
    expect(body).toMatch(/inbound\/<.*Scanned<.*<time/s);
    expect(body).toContain("send it again under its final name");
    expect(body).toContain("Cannot be used");
    expect(body).toContain("The system refuses it: ENOENT.");
    expect(body).toContain("Make the folder, mount the share");
    expect(body).toContain(basename(absent));
    // Where it lies on the machine is told to operators alone.
    expect(body).not.toContain(absent);
    const whole = await bodyFor(await signInToConsole(site, "operator"));
    expect(whole).toContain(absent);
    const others = await bodyFor(await signInToConsole(site, "stranger"));
    expect(others).toContain("inbound/");
    expect(others).not.toContain(".xml.part");
    expect(others).not.toContain(basename(absent));
  });

  test("pauses it, and refuses a poll as long as that lasts", async () => {
    const seenAt = String(Date.now());
    const form = { reason: "they move", seenAt };
    expect((await admin.post(`/console/remotes/${company}/carrier/pause`, form)).status).toBe(303);
    expect((await admin.get("/console/remotes")).body).toContain("Paused by admin");
    const poll = await admin.post(`/console/remotes/${company}/carrier/poll`, form);
    expect(poll.status).toBe(409);
    expect(poll.body).toContain("it is paused by admin");
    const resume = { ...form, seenAt: String(Date.now()) };
    expect((await admin.post(`/console/remotes/${company}/carrier/resume`, resume)).status).toBe(303);
    const polled = await admin.post(`/console/remotes/${company}/carrier/poll`, resume);
    expect(polled.headers.get("location")).toBe("/console/remotes?done=remotePolled");
    expect((await admin.post(`/console/remotes/${company}/nobody/poll`, resume)).status).toBe(404);
  });
});
