/** Users, audit and health in the console of the real program: who may what, and what is written about it. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ConsoleBrowser,
  consoleBase,
  makeConsoleSite,
  otherCompany,
  signInToConsole,
} from "../support/console.ts";
import { company, type Site } from "../support/daemon.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;
let admin: ConsoleBrowser;
let operator: ConsoleBrowser;

const security = { wrongPasswordDelayMs: 0, bans: { allow: ["127.0.0.0/8"] } };

beforeAll(async () => {
  site = await makeConsoleSite({ security });
  await site.start();
  admin = await signInToConsole(site, "admin");
  operator = await signInToConsole(site, "operator");
});

afterAll(() => site.end());

/** The address of the page of the user, as the list has it. */
async function pageOf(browser: ConsoleBrowser, name: string): Promise<string> {
  const { body } = await browser.get(`/console/users?name=${name}`);
  const found = new RegExp(`href="(/console/users/\\d+)"><bdi class="foreign">${name}<`).exec(body);
  if (found?.[1] === undefined) throw new Error(`${name} is not in the list`);
  return found[1];
}

async function addUser(browser: ConsoleBrowser, userName: string, role = "DI_Inquiry") {
  const reply = await browser.post("/console/users/add", {
    ...{ company, userName, role, reason: "new colleague" },
  });
  const [, password = ""] = /class="secret"><code><bdi>([^<]+)</.exec(reply.body) ?? [];
  return { reply, password };
}

describe("users", () => {
  test("one that is added gets a password that is shown once, and signs in with it", async () => {
    const { reply, password } = await addUser(admin, "newcomer");
    expect([reply.status, password.length > 8]).toEqual([200, true]);
    const browser = new ConsoleBrowser(consoleBase(site));
    expect((await browser.signIn("newcomer", password)).status).toBe(303);
    const shown = await admin.get(await pageOf(admin, "newcomer"));
    expect(shown.body).not.toContain(password);
    expect(shown.body).toContain("added a user");
  });

  test("the history of a user has nothing of another one of the same name", async () => {
    const stranger = await signInToConsole(site, "stranger");
    const add = { userName: "twin", role: "DI_Inquiry" };
    await admin.post("/console/users/add", { ...add, company, reason: "the twin of ours" });
    await stranger.post("/console/users/add", { ...add, company: otherCompany, reason: "the other twin" });
    const { body: list } = await operator.get("/console/users?name=twin");
    const pages = [...list.matchAll(/href="(\/console\/users\/\d+)"/g)].map(([, path = ""]) => path);
    const told = await Promise.all(pages.map(async (path) => (await operator.get(path)).body));
    const reasons = ["the twin of ours", "the other twin"];
    const seen = told.map((body) => reasons.filter((reason) => body.includes(reason)));
    expect(seen.toSorted()).toEqual([["the other twin"], ["the twin of ours"]]);
  });

  test("the page of a user has its sessions, and apart from them all that has changed it", async () => {
    const { password } = await addUser(admin, "traveller");
    const browser = new ConsoleBrowser(consoleBase(site));
    await browser.signIn("traveller", "not the password");
    await browser.signIn("traveller", password);
    await browser.get("/console/password");
    const own = { current: password, next: "another password", repeated: "another password" };
    expect((await browser.post("/console/password", own)).status).toBe(303);
    const { body } = await admin.get(await pageOf(admin, "traveller"));
    const [, sessions = "", history = ""] = /id="sessions"(.*)id="history"(.*)<\/main>/s.exec(body) ?? [];
    expect(sessions).toMatch(
      /signed in to the console.*<bdi>127\.0\.0\.1<\/bdi>.*1 sign-in under this name refused before/s,
    );
    expect(history).toContain("changed the own password");
    expect(history).toContain("added a user");
    expect(history).not.toContain("signed in to the console");
  });

  test("the page of a user says why it was not let in, to those who administer it alone", async () => {
    const attempts = [
      ["integration", "not the password"],
      ["integration", "nor this one"],
      ["inquiry", "wrong"],
    ] as const;
    for (const [userName, password] of attempts)
      expect((await new ConsoleBrowser(consoleBase(site)).signIn(userName, password)).status).not.toBe(303);
    const address = await pageOf(admin, "integration");
    const { body } = await admin.get(address);
    const [, refused = ""] = /id="refused"([\s\S]*?)<\/section>/.exec(body) ?? [];
    expect(refused).toMatch(/127\.0\.0\.1.*>HTTP<.*>2<.*The password is wrong\..*set a new one/s);
    const stranger = await signInToConsole(site, "stranger");
    expect((await stranger.get(address)).status).toBe(404);
  });

  test("what has no reason, no role or a name that is taken is refused at its form", async () => {
    const noReason = await admin.post("/console/users/add", { company, userName: "x1", role: "DI_Inquiry" });
    expect([noReason.status, noReason.body]).toEqual([422, expect.stringContaining("Give a reason")]);
    const noRole = await admin.post("/console/users/add", { company, userName: "x1", reason: "r" });
    expect([noRole.status, noRole.body]).toEqual([422, expect.stringContaining("a user needs a role")]);
    const taken = await addUser(admin, "dispatcher");
    expect([taken.reply.status, taken.reply.body]).toEqual([422, expect.stringContaining("already")]);
    expect(taken.reply.body).toContain('value="dispatcher"');
  });

  test("other roles hold at once, and the audit has them before and after, with the reason", async () => {
    const page = await pageOf(admin, "inquiry");
    const before = "DI_Inquiry";
    const form = [
      ...[
        ["company", company],
        ["before", before],
        ["reason", "works in dispatch now"],
      ],
      ...[
        ["role", "DI_Dispatcher"],
        ["role", "DI_Inquiry"],
      ],
    ] as const;
    const reply = await admin.post(`${page}/roles`, form);
    expect([reply.status, reply.headers.get("location")]).toEqual([303, `${page}?done=userRoles`]);
    const audit = await admin.get("/console/audit?kind=user.roles");
    expect(audit.body).toContain("works in dispatch now");
    expect(audit.body).toMatch(/DI_Inquiry<\/bdi><\/del>.*DI_Dispatcher, DI_Inquiry/);
    const again = await admin.post(`${page}/roles`, form);
    expect([again.status, again.body]).toEqual([422, expect.stringContaining("changed meanwhile")]);
  });

  test("nobody takes the last administrator, or oneself, away without being told", async () => {
    await runInProcess(site, "company", "add", "LONE");
    const account = ["--company", "LONE", "--role", "MemberAdmin", "--password-file", site.passwordFile];
    await runInProcess(site, "user", "add", "lonely", ...account);
    const lonely = new ConsoleBrowser(consoleBase(site));
    expect((await lonely.signIn("lonely", site.password)).status).toBe(303);
    await lonely.get("/console/password");
    const page = await pageOf(lonely, "lonely");
    const told = await lonely.post(`${page}/disable`, { reason: "leaves" });
    expect(told.status).toBe(422);
    expect(told.body).toMatch(/Nobody could administer LONE.*This is you/);
    expect((await lonely.get(page)).status).toBe(200);
    const meant = await lonely.post(`${page}/disable`, { reason: "leaves", agreed: "yes" });
    expect(meant.status).toBe(303);
    expect((await lonely.get(page)).headers.get("location")).toContain("/console/sign-in");
  });

  test("the last operator is not taken away without being told", async () => {
    const told = await admin.post(`${await pageOf(admin, "operator")}/disable`, { reason: "leaves" });
    expect([told.status, told.body]).toEqual([422, expect.stringContaining("No operator could sign in")]);
  });

  test("a disabled user is signed out at once, and a new password ends the old one", async () => {
    const { password } = await addUser(admin, "leaver");
    const browser = new ConsoleBrowser(consoleBase(site));
    await browser.signIn("leaver", password);
    const page = await pageOf(admin, "leaver");
    expect((await admin.post(`${page}/disable`, { reason: "left us" })).status).toBe(303);
    expect((await browser.get("/console")).status).toBe(303);
    expect((await admin.post(`${page}/enable`, { reason: "back again" })).status).toBe(303);
    const set = await admin.post(`${page}/password`, { reason: "forgotten", mustChange: "yes" });
    const [, next = ""] = /class="secret"><code><bdi>([^<]+)</.exec(set.body) ?? [];
    expect((await browser.signIn("leaver", password)).status).toBe(401);
    expect((await browser.signIn("leaver", next)).status).toBe(303);
    expect((await browser.get("/console")).headers.get("location")).toBe("/console/password");
  });

  test("keys are added and removed, and a line that is none is refused in words", async () => {
    const page = await pageOf(admin, "host");
    const bad = await admin.post(`${page}/add-key`, { reason: "r", publicKey: "ssh-ed25519 AAAA x" });
    expect(bad.status).toBe(422);
    const publicKey =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@example.com";
    expect((await admin.post(`${page}/add-key`, { reason: "second host", publicKey })).status).toBe(303);
    const { body } = await admin.get(page);
    const fingerprints = [...body.matchAll(/name="fingerprint" value="([^"]+)"/g)].map(([, one]) => one);
    expect(fingerprints).toHaveLength(2);
    expect(body).toContain("me@example.com");
    const removed = await admin.post(`${page}/remove-key`, {
      reason: "gone",
      fingerprint: fingerprints[1] ?? "",
    });
    expect(removed.status).toBe(303);
    expect((await admin.get(page)).body).not.toContain("me@example.com");
  });

  test("nothing of another company is seen or changed, whatever number is asked for", async () => {
    const stranger = await signInToConsole(site, "stranger");
    const page = await pageOf(admin, "dispatcher");
    expect((await stranger.get(page)).status).toBe(404);
    expect((await stranger.get("/console/users/999999")).status).toBe(404);
    for (const act of ["disable", "password", "roles", "add-key"])
      expect((await stranger.post(`${page}/${act}`, { reason: "r", company })).status).toBe(404);
    const added = await stranger.post("/console/users/add", {
      company,
      userName: "spy",
      role: "MemberAdmin",
      reason: "r",
    });
    expect(added.status).toBe(404);
    const list = await stranger.get("/console/users");
    expect(list.body).not.toMatch(/dispatcher|ACME/);
    expect((await stranger.get("/console/audit")).body).not.toContain("ACME");
    expect((await stranger.get("/console/audit.csv")).body).not.toContain("ACME");
  });

  test("of a user of two companies, only an operator changes how it signs in", async () => {
    const account = ["--company", otherCompany, "--role", "DI_Inquiry"];
    await runInProcess(site, "user", "add", "dispatcher", ...account);
    const page = await pageOf(admin, "dispatcher");
    const shown = await admin.get(page);
    expect(shown.body).toContain("an operator changes password");
    expect(shown.body).not.toContain(otherCompany);
    expect((await admin.post(`${page}/password`, { reason: "r" })).status).toBe(403);
    const all = await operator.get(page);
    expect(all.body).toContain(otherCompany);
    expect((await operator.post(`${page}/disable`, { reason: "on leave" })).status).toBe(303);
    const stranger = await signInToConsole(site, "stranger");
    for (const browser of [admin, stranger])
      expect((await browser.get("/console/audit?kind=user.disable")).body).toContain("on leave");
  });

  test("who may only look gets none of it", async () => {
    const inquiry = await signInToConsole(site, "inquiry");
    for (const path of ["/console/users", "/console/audit", "/console/audit.csv", "/console/health"])
      expect((await inquiry.get(path)).status).toBe(403);
    expect((await admin.get("/console/health")).status).toBe(403);
    const wrong = await admin.get("/console/audit?day=5.11.2026");
    expect([wrong.status, wrong.body.includes("<table")]).toEqual([400, false]);
    expect(wrong.body).toContain("this is no day: write it as 2026-11-05");
    const table = await admin.get("/console/audit.csv?day=5.11.2026&user=x");
    expect([table.status, table.headers.get("location")]).toEqual([
      303,
      "/console/audit?user=x&day=5.11.2026",
    ]);
    expect((await admin.post("/console/health/verify", { reason: "r" })).status).toBe(403);
  });
});

describe("a company that an operator adds", () => {
  const add = (code: string, more: Record<string, string> = {}) =>
    operator.post("/console/companies/add", { code, reason: "new customer", ...more });

  test("has its folders, and its users, at once: a file that lies in its inbound/ is decided about", async () => {
    const reply = await add("Fresh_1", { name: "Fresh Foods" });
    expect([reply.status, reply.headers.get("location")]).toEqual([
      303,
      "/console/users?company=Fresh_1&done=companyAdded",
    ]);
    const { body } = await operator.get("/console/users?company=Fresh_1");
    expect(body).toMatch(/Fresh_1<.*Fresh Foods<.*nobody/s);
    // The form to add a user is for the company that the list is of.
    expect(/id="add-company".*?<\/select>/s.exec(body)?.[0]).toContain('value="Fresh_1" selected');
    const added = await operator.post("/console/users/add", {
      ...{ company: "Fresh_1", userName: "chief", role: "MemberAdmin", reason: "her administrator" },
    });
    const [, password = ""] = /class="secret"><code><bdi>([^<]+)</.exec(added.body) ?? [];
    const { body: list } = await operator.get("/console/users?company=Fresh_1");
    const [, numbers = ""] = /Fresh Foods<(.*?)<\/tr>/s.exec(list) ?? [];
    expect([...numbers.matchAll(/class="number"[^>]*>([^<]*)</g)].map(([, text]) => text)).toEqual([
      "1",
      "1",
    ]);
    const chief = new ConsoleBrowser(consoleBase(site));
    await chief.signIn("chief", password);
    const file = stopFile("4711");
    await writeFile(join(site.stateDir, "companies/Fresh_1/inbound", file.name), file.content);
    await waitFor("the file to be in the list", async () =>
      (await chief.get("/console/files?state=applied")).body.includes(file.name),
    );
  });

  test("is refused with what is wrong with its code, at its field, and is there once in any case", async () => {
    const faulty = await add("no good");
    expect(faulty.status).toBe(422);
    expect(faulty.body).toMatch(/id="new-company-code-error">[^<]*is not valid: use 1 to 20 letters/);
    expect(faulty.body).toMatch(/id="new-company-code"[^>]* value="no good"/);
    const again = await add(company.toLowerCase());
    expect([again.status, again.body]).toEqual([
      422,
      expect.stringContaining(`there is a company ${company} already`),
    ]);
    const codes = await runInProcess(site, "company", "list");
    expect(codes.toUpperCase().split(`${company} `)).toHaveLength(2);
    expect((await admin.get("/console/users")).body).not.toContain("new-company");
    expect(existsSync(join(site.stateDir, "companies", company.toLowerCase()))).toBe(false);
  });
});

describe("the audit", () => {
  test("has what a reload has changed, without secrets, for operators alone", async () => {
    const password = join(site.folder, "tms.password");
    await writeFile(password, "hidden-4711");
    const account = { host: "127.0.0.1", port: 9, user: "dropgate", password: `file:${password}` };
    const targets = {
      tms: { type: "sftp", hostKeys: ["SHA256:OTpFHhd6CPM2aOqbY6PvfSb3Kd+OpFXgvCd4mzt6Vqg"], ...account },
    };
    await site.reconfigure({ log: { level: "warn" }, companies: { ACME: { outbound: { targets } } } });
    site.daemon.process.kill("SIGHUP");
    const { body } = await waitFor("the entry of the reload", async () => {
      const reply = await operator.get("/console/audit?kind=config.reload");
      return reply.body.includes("log.level") && reply;
    });
    expect(body).toContain("warn");
    expect(body).not.toContain("hidden-4711");
    expect((await admin.get("/console/audit?kind=config.reload")).body).not.toContain("log.level");
  });

  test("is read page by page, by day and by user, and as CSV", async () => {
    const day = new Date().toISOString().slice(0, 10);
    expect((await admin.get(`/console/audit?day=${day}&user=admin`)).body).toContain("added a user");
    expect((await admin.get("/console/audit?day=2020-01-01")).body).toContain("Nothing fits");
    expect((await admin.get("/console/audit?day=yesterday")).body).toContain('aria-invalid="true"');
    const csv = await admin.get("/console/audit.csv?kind=user.add");
    expect(csv.headers.get("content-type")).toContain("text/csv");
    expect(csv.body.split("\r\n")[0]).toContain('"at"');
    expect(csv.body).toContain("new colleague");
  });
});

describe("health", () => {
  test("a check runs beside the daemon and tells what it has found with each remedy", async () => {
    expect((await operator.get("/console/health")).body).toContain("Nothing has been checked");
    expect((await operator.post("/console/health/check")).status).toBe(303);
    const { body } = await waitFor("the result of the check", async () => {
      const reply = await operator.get("/console/health");
      return reply.body.includes("without anything to do") && reply;
    });
    expect(body).toContain("the configuration");
    expect(body).not.toContain("The last check came to nothing");
  });

  test("the ledger is verified at once, with a reason and a row in the audit", async () => {
    expect((await operator.post("/console/health/verify")).status).toBe(422);
    expect((await operator.post("/console/health/verify", { reason: "before the audit" })).status).toBe(303);
    await waitFor("the result of the verification", async () =>
      (await operator.get("/console/health")).body.includes("Each file is accounted for"),
    );
    expect((await operator.get("/console/audit?kind=ledger.verify")).body).toContain("before the audit");
  });
});
