/**
 * Two companies in one console: whatever is asked for by its number, name or address over any route, nothing of the other
 * company is seen or changed, and the answer is that for what does not exist. Each route has to say what it is asked for
 * here: one that is added fails until it does.
 */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ConsoleRoute } from "../../src/endpoints/http/console/console-route.ts";
import { consoleRoutes } from "../../src/endpoints/http/console/routes.ts";
import {
  ConsoleBrowser,
  consoleBase,
  otherCompany,
  type PageReply,
  signInToConsole,
} from "../support/console.ts";
import { askedOfRoutes } from "../support/console-asked.ts";
import { addressIn, deliveryOf, referenceOf, subjectsOf } from "../support/console-browser.ts";
import { bannedAddress, ConsoleStory, files } from "../support/console-story.ts";
import { company, type Site } from "../support/daemon.ts";
import { listenTo } from "../support/event-stream.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { sampled } from "../support/sampled.ts";
import { carrier, put, receiptFor, stopFile } from "../support/stop-files.ts";
import { rowsOf } from "../support/site-database.ts";

type Fields = Readonly<Record<string, string>>;

let story: ConsoleStory;
let site: Site;
let stranger: ConsoleBrowser;
/** What the company has, by the names that stand for it in addresses and forms; and the same of which there is nothing. */
let theirs: Fields;
let nothing: Fields;

beforeAll(async () => {
  story = await ConsoleStory.open();
  site = story.site;
  stranger = await signInToConsole(site, "stranger");
  const [{ sha256 } = { sha256: "" }] = rowsOf<{ sha256: string }>(
    site,
    "select sha256 from files where name = ?",
    files.applied.name,
  );
  const own = {
    reason: "curious",
    seenAt: String(Date.now()),
    role: "MemberAdmin",
    before: "DI_Inquiry",
    empty: "",
  };
  const [entry] = rowsOf<{ id: number }>(site, "select max(id) as id from audit");
  theirs = {
    ...(await subjectsOf(story)),
    ...{ ...own, userName: "inquiry", fileName: files.unknownCarrier.name, sha256: sha256.slice(0, 12) },
    ...{
      delivered: await deliveryOf(site, "outbound", "delivered"),
      address: bannedAddress,
      subject: "user inquiry",
    },
    place: `${Date.now()}~${await referenceOf(site, files.faulty.name)}`,
    ...{
      entry: String(entry?.id ?? 0),
      target: "shop",
      "targets.name": "shop",
      appliedName: files.applied.name,
    },
    ...{ appliedText: String(files.applied.content), key: "ssh-ed25519 AAAA", actor: "admin" },
    ...{ companyId: "1", pattern: "47*" },
  };
  nothing = {
    ...theirs,
    ...{
      reference: randomUUID(),
      guid: randomUUID(),
      delivered: randomUUID(),
      userId: "999999",
      number: "77",
    },
    ...{ company: "NONE", companyCode: "NONE", stopNbr: "7712", loadNbr: "L-177", userName: "nobody" },
    ...{
      fileName: stopFile("7712", { stopFunction: "03" }).name,
      sha256: "123456789012",
      address: "127.0.0.99",
    },
    ...{
      target: "absent",
      actor: "nobody",
      companyId: "8",
      pattern: "77*",
      appliedName: stopFile("7712").name,
      appliedText: String(stopFile("7712").content),
    },
    ...{
      subject: "user nobody",
      "exports.name": "absent",
      "remotes.name": "absent",
      "targets.name": "absent",
    },
  };
});
afterAll(() => story.end());

const keyOf = ({ method, path }: ConsoleRoute) => `${method} ${path}`;
const valuesOf = (fields: Fields, subjects: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, subject]) => [name, subjects[subject] ?? `?${subject}`]),
  );

interface About {
  readonly route: ConsoleRoute;
  readonly fields: Fields;
  readonly subjects: Fields;
}

function send(browser: ConsoleBrowser, { route, fields, subjects }: About, headers: Fields = {}) {
  const address = addressIn(subjects, route.path);
  const values = valuesOf(fields, subjects);
  if (route.method === "POST") return browser.post(address, values, headers);
  return browser.get(`${address}?${new URLSearchParams(values)}`, headers);
}

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** A page without what it was asked, and without what is another one in each answer. */
function plain({ body, headers }: PageReply, { route, fields, subjects }: About): string {
  const inPath = addressIn(subjects, route.path).split("/").slice(3);
  const values = [...Object.values(valuesOf(fields, subjects)), ...inPath].filter((one) => one.length > 1);
  const forms = values.flatMap((one) => [
    one,
    escaped(one),
    encodeURIComponent(one),
    String(new URLSearchParams({ "": one })).slice(1),
  ]);
  const longestFirst = forms.toSorted((one, other) => other.length - one.length);
  // Before all else: the digest of a style may have the digits of a number that is asked for.
  const ofRequest = body
    .replaceAll(/\/assets\/[0-9a-f]+/g, "")
    .replaceAll(headers.get("x-request-id") ?? "none", "");
  const own = longestFirst.reduce((text, form) => text.replaceAll(form, "…"), ofRequest);
  return own
    .replaceAll(/name="formToken" value="[^"]*"/g, "")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{10,}/g, "");
}

const withoutNumbers = (text: string) => text.replaceAll(/\d+/g, "0");
/** What no page of the other company may show. */
const secrets = /ACME|SPEEDY|L-100|4713|4714|472[123]|127\.0\.0\.77|nightly|\bfay\b/;

async function answerTo(about: About, headers: Fields) {
  const reply = await send(stranger, about, headers);
  return { status: reply.status, text: plain(reply, about) };
}

/** Both answers; asked for again where they differ, as an age may have become a minute between them. */
async function askBoth([one, other]: readonly [About, About], headers: Fields) {
  for (let tries = 1; ; tries += 1) {
    const [foreign, none] = [await answerTo(one, headers), await answerTo(other, headers)];
    if (tries === 3 || withoutNumbers(foreign.text) === withoutNumbers(none.text)) return { foreign, none };
  }
}

/** All that acts change. */
function standing(): string {
  const queries = {
    files: "select id, state, removed_at from files order by id",
    repeats: "select count(*) from file_repeats",
    deliveries: "select id, state = 'dropped' from deliveries order by id",
    asked: "select count(*) from delivery_repeats",
    pauses: "select * from hand_pauses",
    polls: "select company_id, remote, asked_at from remote_states order by 1, 2",
    users: "select * from users order by id",
    memberships: "select * from memberships order by user_id",
    keys: "select * from user_keys order by id",
    audit: "select * from audit where reason is not null or kind = 'content.seen' order by id",
  };
  return JSON.stringify(Object.values(queries).map((sql) => rowsOf(site, sql)));
}

/** As a whole page, and for a part of one; each route is asked in one of both ways, at night in both. */
function waysToAsk(nth: number): readonly Fields[] {
  const ways: readonly Fields[] = [{}, { "hx-request": "true" }];
  return sampled(nth % 2 === 0 ? ways : ways.toReversed(), 1);
}

test("each route says what it is asked for of another company", () => {
  expect(Object.keys(askedOfRoutes).toSorted()).toEqual(consoleRoutes.map(keyOf).toSorted());
  for (const [key, fields] of Object.entries(askedOfRoutes))
    expect([key, fields.length > 0]).toEqual([key, true]);
});

describe("the administrator of another company", () => {
  test.each(consoleRoutes.map((route) => [keyOf(route), route] as const))(
    "%s is answered as for what does not exist, and changes nothing",
    async (key, route) => {
      const before = standing();
      for (const fields of askedOfRoutes[key] ?? []) {
        const [one, other] = [theirs, nothing].map((subjects) => ({ route, fields, subjects }));
        if (one === undefined || other === undefined) throw new Error("there are two");
        for (const headers of waysToAsk(consoleRoutes.indexOf(route))) {
          const { foreign, none } = await askBoth([one, other], headers);
          const named = JSON.stringify(fields);
          expect([named, foreign.status]).toEqual([named, none.status]);
          if (route.who === "operator") expect(foreign.status).toBe(403);
          else if (route.path.includes("{")) expect(foreign.status).toBe(404);
          expect(secrets.exec(foreign.text)?.[0], named).toBeUndefined();
          expect(withoutNumbers(foreign.text)).toBe(withoutNumbers(none.text));
        }
      }
      expect(standing()).toBe(before);
    },
  );

  test.each([
    ["/console/files", { before: "place" }],
    ["/console/files", { after: "place" }],
    ["/console/files.csv", { before: "place" }],
    ["/console/deliveries", { before: "place" }],
    ["/console/users", { id: "userId", behind: "userName" }],
    ["/console/audit", { before: "entry" }],
  ])("%s from a place of the other company on (%j) shows nothing of it", async (path, fields) => {
    const { status, body } = await stranger.get(`${path}?${new URLSearchParams(valuesOf(fields, theirs))}`);
    expect(status).toBe(200);
    const shown = body
      .replaceAll(theirs["userName"] ?? "", "…")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{10,}/g, "");
    expect(secrets.exec(shown.replaceAll(/name="formToken" value="[^"]*"/g, ""))?.[0]).toBeUndefined();
  });

  test("hears nothing of the company's refusals, also when it says that it has heard one of them", async () => {
    const refused = (stopNbr: string) => stopFile(stopNbr, { more: carrier("SPEEDY"), stopFunction: "03" });
    for (const stopNbr of ["8100", "8101"]) {
      await put(site, refused(stopNbr));
      await receiptFor(site, refused(stopNbr).name);
    }
    const lastEventId = await referenceOf(site, refused("8100").name);
    const live = `${consoleBase(site)}/console/live`;
    const heard = await listenTo(live, { cookie: stranger.cookie, lastEventId });
    await put(site, refused("8103"));
    const own = stopFile("8102", { more: carrier("NOBODY"), stopFunction: "03" });
    await writeFile(join(site.stateDir, "companies", otherCompany, "inbound", own.name), own.content);
    await heard.next("the own refusal", ({ event, data }) => event === "refusal" && data.includes(own.name));
    expect(heard.heard.map(({ data }) => data).join("")).not.toMatch(/ACME|810[013]|SPEEDY/);
    heard.cut();
  });
});

test("who administers one company and may only look at the other acts in the first alone", async () => {
  const account = (code: string, role: string) =>
    runInProcess(
      site,
      "user",
      "add",
      "twin",
      "--company",
      code,
      "--role",
      role,
      "--password-file",
      site.passwordFile,
    );
  await account(otherCompany, "MemberAdmin");
  await account(company, "DI_Inquiry");
  const twin = new ConsoleBrowser(consoleBase(site));
  await twin.signIn("twin", site.password);
  await twin.get("/console/password");
  expect((await twin.get(`/console/files/${theirs["reference"]}`)).status).toBe(200);
  expect((await twin.get(`/console/deliveries/${theirs["guid"]}`)).status).toBe(200);
  const before = standing();
  const acting = consoleRoutes.filter(
    ({ who, path }) => (who === "act" || who === "administer") && path !== "/console/users",
  );
  const isOfMany = (path: string) => path.endsWith("/files/retry") || path.includes("/deliveries/act/");
  for (const route of acting) {
    for (const fields of askedOfRoutes[keyOf(route)] ?? []) {
      const { status, body } = await send(twin, { route, fields, subjects: theirs });
      const isList = isOfMany(route.path) || route.path.startsWith("/console/audit");
      expect([keyOf(route), isList ? [200, 409].includes(status) : status]).toEqual([
        keyOf(route),
        isList || 404,
      ]);
      expect(body).not.toMatch(/SPEEDY|stops\/ACME|class="(?:company|foreign)">ACME|,"?ACME"?,/);
      // Without anything named it is about what the user administers.
      if (Object.keys(fields).length > 0) expect(body).not.toMatch(/name="of" value="[^"]/);
    }
  }
  expect(standing()).toBe(before);
  const lists = await twin.get(`/console/files?state=refused&company=${company}`);
  expect(lists.body).toContain(files.unknownCarrier.name);
  expect(lists.body).not.toContain('name="of"');
});

test("an operator who has no role in a company sees and does nothing with its files", async () => {
  const operator = await signInToConsole(site, "operator");
  const list = await stranger.get("/console/files?name=9001*");
  const [, reference = ""] = /href="\/console\/files\/([0-9a-f-]{36})"/.exec(list.body) ?? [];
  expect(reference).not.toBe("");
  for (const path of [`files/${reference}`, `files/${reference}/retry`, `stops/${otherCompany}/9001`])
    expect((await operator.get(`/console/${path}`)).status).toBe(404);
  for (const path of [
    `files?company=${otherCompany}`,
    `files.csv?company=${otherCompany}`,
    "files?name=9001*",
  ])
    expect((await operator.get(`/console/${path}`)).body).not.toMatch(
      new RegExp(`${reference}|href="[^"]*9001_`),
    );
  expect((await operator.get("/console/find?q=9001")).body).not.toContain(reference);
});

describe("each page", () => {
  /** The patterns of the pages that links lead to, from these on; a few of each pattern are looked at. */
  async function reached(browser: ConsoleBrowser, first: readonly string[]): Promise<ReadonlySet<string>> {
    const pages = consoleRoutes.filter(({ method }) => method === "GET");
    const patternOf = (path: string) => {
      const fits = pages.filter((route) =>
        new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path),
      );
      // `/console/files/retry` is a page of its own, and no reference.
      return fits.toSorted((one, other) => one.path.split("{").length - other.path.split("{").length)[0]
        ?.path;
    };
    const seen = new Map<string, number>();
    const known = new Set(first);
    for (const address of known) {
      const pattern = patternOf(address.split("?")[0] ?? "");
      const times = seen.get(pattern ?? "") ?? 0;
      if (pattern === undefined || times >= 4) continue;
      seen.set(pattern, times + 1);
      const { body } = await browser.get(address);
      for (const [, href = ""] of body.matchAll(/(?:href|data-live|hx-get|action)="(\/console[^"#]*)/g))
        known.add(href.replaceAll("&amp;", "&"));
    }
    return new Set(seen.keys());
  }

  test("is led to by links from the first one", async () => {
    const operator = await signInToConsole(site, "operator");
    const pause = { reason: "to see what is shown", seenAt: String(Date.now()) };
    await operator.post(`/console/targets/${company}/shop/pause`, pause);
    const all = new Set(await reached(operator, ["/console"]));
    // A few of each pattern are looked at: from here on they are the stops of a load.
    for (const path of await reached(operator, ["/console/deliveries"])) all.add(path);
    await operator.post(`/console/remotes/${company}/partner/pause`, pause);
    for (const path of await reached(operator, ["/console/remotes"])) all.add(path);
    // What a page of its own accord reads again is a page that links lead to.
    const isPage = ({ method, isBackground }: ConsoleRoute) => method === "GET" && isBackground !== true;
    const pages = consoleRoutes.filter(isPage).map(({ path }) => path);
    // Deliveries are held after a restore alone: the page of deliveries leads to it then.
    expect(pages.filter((path) => !all.has(path))).toEqual(["/console/deliveries/act/release"]);
  });
});
