/** Pages of the console in a browser, signed in, by the addresses of what a story has. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { consoleRoutes } from "../../src/endpoints/http/console/routes.ts";
import type { Browsing, Cookies, OpenOptions } from "./browser.ts";
import { type ConsoleStory, files, load } from "./console-story.ts";
import { type ConsoleUserName, signInToConsole } from "./console.ts";
import { company, type Site } from "./daemon.ts";
import { receiptName } from "./stop-files.ts";

/** Signs in as the form does. Gives the cookie of the session. */
async function sessionOf(site: Site, userName: ConsoleUserName | "host"): Promise<Cookies> {
  const { cookie } = await signInToConsole(site, userName);
  const equals = cookie.indexOf("=");
  const [name, value] = [cookie.slice(0, equals), cookie.slice(equals + 1)];
  return [{ name, value, url: site.http, httpOnly: true, sameSite: "Strict" }];
}

const sessions = new WeakMap<Site, Map<string, Promise<Cookies>>>();

/** A page of somebody who is signed in; tests of a site have one session of each user. */
export async function openAs(
  browser: Browsing,
  { site }: Pick<ConsoleStory, "site">,
  options: { readonly userName: ConsoleUserName | "host" } & Partial<OpenOptions>,
): Promise<Page> {
  const { userName, ...rest } = options;
  const ofSite = sessions.get(site) ?? new Map<string, Promise<Cookies>>();
  sessions.set(site, ofSite);
  const session = ofSite.get(userName) ?? sessionOf(site, userName);
  ofSite.set(userName, session);
  return await browser.open({ origin: site.http, cookies: await session, ...rest });
}

/** The reference of a decided file, as its receipt tells it to the host. */
export async function referenceOf(site: Site, name: string): Promise<string> {
  const path = site.path("receipts", receiptName(name));
  const [, reference] = / Ledger="([^"]+)"/.exec(await readFile(path, "utf8")) ?? [];
  if (reference === undefined) throw new Error(`the receipt of ${name} has no reference`);
  return reference;
}

interface DeliveryView {
  readonly guid: string;
  readonly target: string;
  readonly state: string;
}

/** The delivery of that state to the target. */
export async function deliveryOf(site: Site, target: string, state: string): Promise<string> {
  const all = await site.json<readonly DeliveryView[]>("deliveries", "--target", target);
  const found = all.find((each) => each.state === state);
  if (found === undefined) throw new Error(`no delivery to ${target} is ${state}: ${JSON.stringify(all)}`);
  return found.guid;
}

/** The number of a user, as the list of users leads to it. */
async function userIdOf(site: Site, userName: ConsoleUserName): Promise<string> {
  const { body } = await (await signInToConsole(site, "admin")).get(`/console/users?name=${userName}`);
  const [, id] = /href="[^"]*\/users\/(\d+)"/.exec(body) ?? [];
  if (id === undefined) throw new Error(`the page of users does not lead to ${userName}`);
  return id;
}

/** What stands in the addresses of pages, by its name in their patterns. */
export async function subjectsOf({
  site,
}: Pick<ConsoleStory, "site">): Promise<Readonly<Record<string, string>>> {
  return {
    reference: await referenceOf(site, files.unknownCarrier.name),
    guid: await deliveryOf(site, "shop", "dead"),
    companyCode: company,
    stopNbr: load.stops[0],
    loadNbr: load.loadNbr,
    userId: await userIdOf(site, "inquiry"),
    number: "1",
    company,
    "exports.name": "nightly",
    "remotes.name": "partner",
    "targets.name": "host",
  };
}

/** The address of a page; fails where the story has nothing that the pattern asks for. */
export function addressIn(subjects: Readonly<Record<string, string>>, pattern: string): string {
  const [, , folder] = pattern.split("/");
  return pattern.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const subject = subjects[`${folder}.${name}`] ?? subjects[name];
    if (subject === undefined) throw new Error(`nothing stands for {${name}} of ${pattern}`);
    return encodeURIComponent(subject);
  });
}

/** The routes that give documents to look at: no streams, no parts of pages, no tables to be saved. */
export const consolePages = consoleRoutes.filter(
  ({ method, path }) => method === "GET" && !/\.csv$|\/live\b/.test(path),
);

/** Without the pages of acts that are made as another one is, with other words: those are looked at at night. */
export const differentPages = consolePages.filter(
  ({ path }) => !/\/(?:resend|give-up|resume|poll)$/.test(path),
);

/** The pattern of a page as the name of its pictures: `files-reference`. */
export function pageName(path: string): string {
  return path.replace("/console", "").replaceAll(/[{}]/g, "").replaceAll("/", "-").slice(1) || "today";
}
