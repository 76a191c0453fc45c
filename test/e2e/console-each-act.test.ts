/**
 * Each act of the console over HTTP: refused to those who may not do it, asks for a reason, done once, and written to the
 * audit with what was before and after. The table has all acts: one that is added fails to compile until it has its case.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { doneWords } from "../../src/endpoints/http/console/words/done-words.ts";
import { kitWords } from "../../src/endpoints/http/console/words/kit-words.ts";
import { deliveryHoldKey } from "../../src/store/outbound/delivery-hold.ts";
import { type ConsoleBrowser, type ConsoleUserName, signInToConsole } from "../support/console.ts";
import { actCases } from "../support/console-act-cases.ts";
import { addressIn, deliveryOf, referenceOf, subjectsOf } from "../support/console-browser.ts";
import { ConsoleStory, files, guessPasswords } from "../support/console-story.ts";
import { company, type Site } from "../support/daemon.ts";
import { waitFor } from "../support/wait-for.ts";
import { changeRows, rowsOf } from "../support/site-database.ts";

let story: ConsoleStory;
let site: Site;
let subjects: Record<string, string>;
const browsers = new Map<ConsoleUserName, ConsoleBrowser>();

function browserOf(name: ConsoleUserName): ConsoleBrowser {
  const browser = browsers.get(name);
  if (browser === undefined) throw new Error(`${name} is not signed in`);
  return browser;
}

/** What an operator of the command `restore` would find afterwards. */
function holdDeliveries(): void {
  const hold = { restoredAt: Date.now(), backup: "b-1", sendAgainFrom: Date.now(), lastReceivedAt: null };
  changeRows(site, "insert into meta (key, value) values (?, ?)", deliveryHoldKey, JSON.stringify(hold));
}

beforeAll(async () => {
  story = await ConsoleStory.open();
  site = story.site;
  for (const name of ["admin", "operator", "dispatcher", "integration", "stranger"] as const)
    browsers.set(name, await signInToConsole(site, name));
  await guessPasswords(site);
  holdDeliveries();
  subjects = {
    ...(await subjectsOf(story)),
    fileName: files.unknownCarrier.name,
    delivered: await deliveryOf(site, "outbound", "delivered"),
    waiting: await deliveryOf(site, "host", "waiting"),
    dead: await deliveryOf(site, "shop", "dead"),
  };
});
afterAll(() => story.end());

interface AuditRow {
  readonly kind: string;
  readonly user_name: string;
  readonly subject: string;
  readonly reason: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly address: string;
  readonly code: string | null;
}

/** The rows of acts, the oldest first. */
function acts(): readonly AuditRow[] {
  const sql = `select a.*, c.code from audit a left join companies c on c.id = a.company_id
    where a.reason is not null order by a.id`;
  return rowsOf(site, sql);
}

const told = (template: string) =>
  template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => subjects[name] ?? "?");
const parsed = (text: string | null) => (text === null ? null : JSON.parse(text));

describe.each(Object.entries(actCases))("%s", (kind, one) => {
  const seenAt = () => Date.now();
  const form = (reason: string, at: number) => ({
    ...Object.fromEntries(Object.entries(one.fields ?? {}).map(([name, text]) => [name, told(text)])),
    ...{ reason, seenAt: String(at) },
  });
  const address = () => addressIn(subjects, one.path);

  test("is refused to those who may not do it, and asks for a reason at its field", async () => {
    const before = acts();
    const refused =
      one.by === "operator" ? (["dispatcher", "admin"] as const) : (["dispatcher", "integration"] as const);
    for (const name of refused) {
      const { status, body } = await browserOf(name).post(address(), form("let me", seenAt()));
      expect([name, status]).toEqual([name, 403]);
      expect(body).toContain(one.by === "operator" ? "console.operators" : "MemberAdmin");
    }
    const foreign = await browserOf("stranger").post(address(), form("mine", seenAt()));
    // Of several things that are named, the page shows those that there are: none.
    const ofSeveral = one.path.startsWith("/console/deliveries/act/") ? 200 : 404;
    expect(foreign.status).toBe(one.by === "operator" ? 403 : ofSeveral);
    const unexplained = await browserOf(one.by).post(address(), form("  ", seenAt()));
    expect(unexplained.status).toBe(one.unexplained);
    expect(unexplained.body).toMatch(/<textarea[^>]* aria-invalid="true"/);
    expect(unexplained.body).toContain(kitWords.reasonMissing);
    expect(acts()).toEqual(before);
  });

  test("is done with its row in the audit, and the next one whose page is as old is told", async () => {
    const before = acts();
    const at = seenAt();
    const reply = await browserOf(one.by).post(address(), form(`to see ${kind}`, at));
    if (one.leadsTo === undefined) expect(reply.status).toBe(200);
    else {
      const leadsTo = reply.headers.get("location") ?? reply.body;
      expect([reply.status, leadsTo]).toEqual([303, told(one.leadsTo)]);
      const [, done = ""] = /done=(\w+)/.exec(leadsTo) ?? [];
      const { status, body } = await browserOf(one.by).get(leadsTo);
      const said = Object.entries(doneWords).find(([key]) => key === done)?.[1] ?? "?";
      expect([status, body]).toEqual([200, expect.stringContaining(said)]);
    }
    const [row, ...more] = acts().slice(before.length);
    expect(more).toEqual([]);
    const { kind: noted, user_name, reason, code, address: from } = row ?? {};
    const ofCompany = one.by === "operator" ? null : company;
    expect([noted, user_name, reason, code, from]).toEqual([
      kind,
      one.by,
      `to see ${kind}`,
      ofCompany,
      "127.0.0.1",
    ]);
    expect(row?.subject).toContain(told(one.subject));
    expect(parsed(row?.before ?? null)).toEqual(one.before && expect.objectContaining(one.before));
    expect(parsed(row?.after ?? null)).toEqual(one.after && expect.objectContaining(one.after));
    const page = await browserOf(one.by).get(`/console/audit?kind=${kind}`);
    expect(page.body).toContain(`to see ${kind}`);
    await waitFor("the daemon to have done it", async () => isSettled(kind));
    const next = await browserOf("operator").post(address(), form("a second time", at));
    if (one.next === "harmless") {
      expect([200, 303]).toContain(next.status);
      return;
    }
    expect([next.status, next.body]).toEqual([one.next.status, expect.stringMatching(one.next.why)]);
    expect(acts()).toHaveLength(before.length + 1);
  });
});

/** What the act has asked the daemon for is over. */
async function isSettled(kind: string): Promise<boolean> {
  if (kind === "file.retry") return (await stateOfFile()) !== "retry";
  if (kind === "delivery.resend") return stateOfDelivery(subjects["delivered"]) === "delivered";
  return true;
}

async function stateOfFile(): Promise<string | undefined> {
  const sql = "select state from files where name = ?";
  return rowsOf<{ state: string }>(site, sql, files.unknownCarrier.name)[0]?.state;
}

function stateOfDelivery(guid = ""): string | undefined {
  return rowsOf<{ state: string }>(site, "select state from deliveries where guid = ?", guid)[0]?.state;
}

/** The references that a page of an act is about. */
function referencesIn(body: string): readonly string[] {
  const [, all = ""] = /name="of" value="([^"]*)"/.exec(body) ?? [];
  return all.split(",").filter((one) => one !== "");
}

/** Those that the page of this address is about, for the administrator. */
async function referencesOn(address: string): Promise<readonly string[]> {
  const { status, body } = await browserOf("admin").get(address);
  expect([address, status]).toEqual([address, 200]);
  return referencesIn(body);
}

function rowOf(sql: string, key: string): Readonly<Record<string, string | number>> {
  const [row] = rowsOf<Record<string, string>>(site, sql, key);
  if (row === undefined) throw new Error(`nothing is ${key}`);
  return row;
}

const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
const dayMs = 86_400_000;

/** A filter without the other end of a span: a last day before the first would be a fault. */
function changed(field: string, miss: string): object {
  const open = { from: { to: "" }, to: { from: "" } };
  return { ...(field === "from" || field === "to" ? open[field] : {}), [field]: miss };
}

describe("all of a filter", () => {
  test("are the deliveries of it, whatever field it has", async () => {
    const sql = "select * from deliveries where state = 'delivered' and kind = ?";
    const { guid, kind, name, order_key: stop, created_at: at } = rowOf(sql, "completion");
    const day = dayOf(Number(at));
    const hits = { company, target: "outbound", state: "delivered", kind, name, stop, from: day, to: day };
    const misses = {
      ...{ company: "OTHER", target: "host", state: "dead", kind: "message", name: "none.xml", stop: "none" },
      ...{ from: dayOf(Number(at) + dayMs), to: dayOf(Number(at) - dayMs) },
    };
    const select = async (changes: object) => {
      const query = new URLSearchParams({ ...hits, ...changes } as Record<string, string>);
      return await referencesOn(`/console/deliveries/act/resend?${query}`);
    };
    expect(await select({})).toEqual([guid]);
    for (const [field, miss] of Object.entries(misses))
      expect([field, await select(changed(field, miss))]).toEqual([field, []]);
    expect(await select({ state: "lost" })).toEqual([]);
  });

  test("are the files of it that can be tried again, whatever field it has", async () => {
    const { name } = files.alsoUnknownCarrier;
    const { received_at: at, channel, user_name } = rowOf("select * from files where name = ?", name);
    const day = dayOf(Number(at));
    const hits = {
      company,
      state: "refused",
      reason: "925",
      channel,
      user: user_name,
      name,
      from: day,
      to: day,
    };
    const misses = {
      ...{
        company: "OTHER",
        state: "superseded",
        reason: "951",
        channel: "http",
        user: "nobody",
        name: "none*",
      },
      ...{ from: dayOf(Number(at) + dayMs), to: dayOf(Number(at) - dayMs) },
    };
    const select = async (changes: object) => {
      const query = new URLSearchParams({ ...hits, ...changes } as Record<string, string>);
      return await referencesOn(`/console/files/retry?${query}`);
    };
    const reference = await referenceOf(site, name);
    expect(await select({})).toEqual([reference]);
    expect(await select({ from: "", to: "", day })).toEqual([reference]);
    for (const [field, miss] of Object.entries(misses))
      expect([field, await select(changed(field, miss))]).toEqual([field, []]);
    expect(await select({ state: "lost" })).toEqual([]);
    expect(await select({ state: "" })).toEqual([reference]);
    const applied = await select({ state: "applied", reason: "", name: files.applied.name });
    expect(applied).toEqual([]);
  });

  test.each([
    ["file.retry", "/console/files/retry", "state=refused"],
    ["delivery.resend", "/console/deliveries/act/resend", "state=delivered"],
    ["delivery.retry", "/console/deliveries/act/retry", "state=dead"],
    ["delivery.giveUp", "/console/deliveries/act/give-up", "state=dead"],
  ])("%s does each of those that the page has named, with a row for each", async (kind, path, filter) => {
    const admin = browserOf("admin");
    await waitFor(
      "something of it",
      async () => referencesIn((await admin.get(`${path}?${filter}`)).body).length > 0,
    );
    const of = referencesIn((await admin.get(`${path}?${filter}`)).body);
    const before = acts().length;
    const form = { of: of.join(","), reason: `all of ${filter}`, seenAt: String(Date.now()) };
    const reply = await admin.post(path, form);
    expect([reply.status, reply.body]).toEqual([303, ""]);
    const rows = acts().slice(before);
    expect(new Set(rows.map(({ kind: noted, reason }) => `${noted} ${reason}`))).toEqual(
      new Set([`${kind} ${form.reason}`]),
    );
    const named = rows.map(({ subject }) => subject.split(" ").at(-1) ?? "");
    expect(named.toSorted()).toEqual(of.toSorted());
  });
});
