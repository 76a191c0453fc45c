/**
 * The console of the real program: a daemon with two companies and a user for each role, and a browser that keeps its
 * cookie and sends forms as browsers do.
 *
 *   const site = await makeConsoleSite();          // not started; everybody has the password of the site
 *   await site.start();
 *   const admin = await signInToConsole(site, "admin");
 *   const page = await admin.get("/console/files");
 *   await admin.post("/console/files/retry", { reason: "mended", file: "…" });   // with the token of the session
 */
import { company, Site, type Settings } from "./daemon.ts";
import { runInProcess } from "./run-in-process.ts";
import type { SiteKind } from "./site-template.ts";

export const otherCompany = "OTHER";

/** By their names: their roles, in which company. The host `host` of the site is there as well. */
export const consoleUsers = {
  admin: { roles: ["MemberAdmin"], company },
  dispatcher: { roles: ["DI_Dispatcher"], company },
  inquiry: { roles: ["DI_Inquiry"], company },
  integration: { roles: ["DI_Integration"], company },
  driver: { roles: ["DI_Driver"], company },
  /** Named in `console.operators`. */
  operator: { roles: ["MemberAdmin"], company },
  /** The administrator of the other company. */
  stranger: { roles: ["MemberAdmin"], company: otherCompany },
} as const;

export type ConsoleUserName = keyof typeof consoleUsers;

/** With the other company and all users. */
const withConsoleUsers: SiteKind = {
  name: "console",
  async fill(site) {
    await runInProcess(site, "company", "add", otherCompany);
    for (const [name, { roles, company: code }] of Object.entries(consoleUsers)) {
      const roleArgs = roles.flatMap((role) => ["--role", role]);
      const account = ["--company", code, ...roleArgs, "--password-file", site.passwordFile];
      await runInProcess(site, "user", "add", name, ...account);
    }
  },
};

/** As `Site.make`, with the other company and all users. */
export async function makeConsoleSite(settings: Settings = {}): Promise<Site> {
  const all = { console: { operators: [`operator@${company}`] }, ...settings };
  return await Site.make(all, undefined, withConsoleUsers);
}

export interface PageReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

type Fields = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

/** Follows nothing by itself: a redirect is an answer like any other. */
export class ConsoleBrowser {
  readonly #base: string;
  readonly #cookies = new Map<string, string>();
  /** That of the session, once a page with a form was seen. */
  formToken = "";

  /** `base`: the address before `/console`. */
  constructor(base: string) {
    this.#base = base;
  }

  /** As the header has it. */
  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  set cookie(header: string) {
    this.#cookies.clear();
    for (const part of header.split("; ").filter((text) => text !== "")) {
      const equals = part.indexOf("=");
      this.#cookies.set(part.slice(0, equals), part.slice(equals + 1));
    }
  }

  async send(method: string, path: string, init: RequestInit = {}): Promise<PageReply> {
    const headers = new Headers(init.headers);
    if (this.cookie !== "") headers.set("cookie", this.cookie);
    const reply = await fetch(`${this.#base}${path}`, { ...init, method, headers, redirect: "manual" });
    for (const set of reply.headers.getSetCookie()) this.#keep(set);
    // Events go on for as long as anybody listens.
    const isStream = reply.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (isStream) await reply.body?.cancel();
    const body = isStream ? "" : await reply.text();
    this.formToken = /name="formToken" value="([^"]+)"/.exec(body)?.[1] ?? this.formToken;
    return { status: reply.status, headers: reply.headers, body };
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<PageReply> {
    return this.send("GET", path, { headers });
  }

  /** As a form of a page: with the origin of the console and the token, unless `fields` or `headers` have others. */
  post(
    path: string,
    fields: Fields = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<PageReply> {
    const entries = Array.isArray(fields) ? [...fields] : Object.entries(fields);
    const hasToken = entries.some(([name]) => name === "formToken");
    const form = new URLSearchParams([...(hasToken ? [] : [["formToken", this.formToken]]), ...entries]);
    const origin = new URL(this.#base).origin;
    const type = "application/x-www-form-urlencoded";
    return this.send("POST", path, {
      body: form.toString(),
      headers: { origin, "content-type": type, ...headers },
    });
  }

  /** Gives the answer to the form. */
  signIn(userName: string, password: string, next = "/console"): Promise<PageReply> {
    return this.post("/console/sign-in", { userName, password, next });
  }

  #keep(set: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
    if (/;\s*max-age=0/i.test(set)) this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}

/** The address before `/console`, from the line that says "ready". */
export function consoleBase(site: Site): string {
  const ready = site.daemon.log.find(({ msg }) => msg === "ready");
  return String(ready?.["console"]).replace(/\/console$/, "");
}

/** A browser that is signed in, with the token of its session. */
export async function signInToConsole(
  site: Site,
  userName: ConsoleUserName | "host",
  password = site.password,
): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(consoleBase(site));
  const reply = await browser.signIn(userName, password);
  if (reply.status !== 303) throw new Error(`${userName} could not sign in: ${reply.status} ${reply.body}`);
  await browser.get("/console/password");
  return browser;
}
