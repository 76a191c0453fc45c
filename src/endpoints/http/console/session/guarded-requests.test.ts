/** What becomes of a request on its way to a page: let in, led to the sign-in or elsewhere, or refused. */
import { describe, expect, test } from "vitest";
import type { ConsoleSession } from "../../../../sign-in/console-sessions.ts";
import type { Answer } from "../../server/answer.ts";
import { HttpRefusal } from "../../server/http-refusal.ts";
import type { PageRequest } from "../../server/route.ts";
import type { ConsoleRequest, ConsoleRoute } from "../console-route.ts";
import { consoleDeps, openSession, pageRequest } from "../testing/asked.ts";
import { words } from "../words/words.ts";
import { guardedRoutes } from "./console-guard.ts";
import { newFormToken } from "./form-token.ts";
import type { SessionRoute } from "./session-route.ts";

interface Given {
  readonly route?: Partial<ConsoleRoute> & { readonly isForPassword?: true };
  readonly asked?: Partial<PageRequest>;
  /** Undefined: there is none. */
  readonly session?: Partial<ConsoleSession> | undefined;
  readonly basePath?: string;
  readonly operators?: readonly string[];
}

interface Came {
  readonly answer: Answer | undefined;
  readonly refusal: HttpRefusal | undefined;
  /** What the page was given; undefined when it was not run. */
  readonly request: ConsoleRequest | undefined;
  /** Ids that were looked for, and whether as one of the background. */
  readonly sought: readonly (readonly [id: string, isBackground: boolean | undefined])[];
  readonly noted: readonly string[];
}

async function ask(given: Given = {}): Promise<Came> {
  const { route: more, asked, basePath = "", operators = [] } = given;
  const isOpen = !("session" in given) || given.session !== undefined;
  let request: ConsoleRequest | undefined;
  const sought: [string, boolean | undefined][] = [];
  const noted: string[] = [];
  const run = async (_services: unknown, asks: ConsoleRequest): Promise<Answer> => {
    request = asks;
    return { status: 200, contentType: "text/html", body: "the page" };
  };
  const route: ConsoleRoute = {
    ...{ access: "console", name: "page", method: "GET", path: "/console/files", who: "signedIn" },
    run,
    ...more,
  };
  const { run: _run, ...place } = route;
  const ofSession: SessionRoute = {
    ...place,
    isForPassword: true,
    runInSession(_deps, { request: asks, session, asked: { requestId } }) {
      expect([session.userId, requestId]).toEqual([openSession.userId, "r"]);
      return run(undefined, asks);
    },
  };
  const deps = consoleDeps(
    async (id, { isBackground }) => {
      sought.push([id, isBackground]);
      return isOpen ? { ...openSession, ...given.session } : undefined;
    },
    { operators, basePath },
  );
  const [guarded] = guardedRoutes([more?.isForPassword === true ? ofSession : route], deps);
  const noteUser = (name: string) => void noted.push(name);
  try {
    const answer = await guarded?.respond(pageRequest({ noteUser, ...asked }));
    return { answer, refusal: undefined, request, sought, noted };
  } catch (error) {
    if (!(error instanceof HttpRefusal)) throw error;
    return { answer: undefined, refusal: error, request, sought, noted };
  }
}

const none = { session: undefined };
const cookie = `dropgate-plain=${openSession.id}`;
const post = { method: "POST" } as const;
const leads = ({ answer }: Came) => [answer?.status, answer?.headers?.["location"]];

describe("without a session", () => {
  test("a page leads to the sign-in and back to itself with its query, below the base path", async () => {
    const asked = { headers: {}, target: "/console/files?state=refused" };
    const came = await ask({ ...none, asked });
    const signIn = "/console/sign-in?next=%2Fconsole%2Ffiles%3Fstate%3Drefused";
    expect(leads(came)).toEqual([303, signIn]);
    expect([came.request, came.sought, came.noted]).toEqual([undefined, [], []]);
    expect(leads(await ask({ ...none, asked, basePath: "/rest" }))).toEqual([303, `/rest${signIn}`]);
    expect(came.answer?.headers).not.toHaveProperty("set-cookie");
  });

  test("that has ended, the sign-in says so, and the browser forgets its cookie", async () => {
    const came = await ask(none);
    expect(leads(came)).toEqual([303, "/console/sign-in?next=%2Fconsole&ended=yes"]);
    expect(came.answer?.headers?.["set-cookie"]).toMatch(/dropgate-plain=;.*Max-Age=0/);
    expect(came.sought).toEqual([[openSession.id, false]]);
  });

  test("a form leads back to the page that it stood on, and is told that nothing was done", async () => {
    const form = () => Promise.reject(new Error("the form was read"));
    const headers = { referer: "https://gate.example/rest/console/users/4?x=1", cookie };
    const asked = { headers, form, target: "/console/users/4/disable" };
    const came = await ask({ ...none, route: { ...post, path: "/console/users/4/disable" }, asked });
    const elsewhere = "/console/sign-in?next=%2Fconsole&ended=form";
    expect(leads(came)).toEqual([303, elsewhere]);
    const below = await ask({ ...none, route: post, asked, basePath: "/rest" });
    expect(leads(below)).toEqual([
      303,
      "/rest/console/sign-in?next=%2Fconsole%2Fusers%2F4%3Fx%3D1&ended=form",
    ]);
    for (const referer of ["nowhere at all", "https://gate.example/else/console/users/4"]) {
      const strange = await ask({
        ...none,
        route: post,
        asked: { headers: { referer }, form },
        basePath: "/rest",
      });
      expect(leads(strange)).toEqual([303, `/rest${elsewhere}`]);
    }
  });

  test("a sign-out that comes too late is none that failed", async () => {
    const route = { ...post, path: "/console/sign-out" as const };
    expect(leads(await ask({ ...none, route }))).toEqual([303, "/console/sign-in?next=%2Fconsole&ended=yes"]);
  });

  test("a script is told where to lead the browser, to the page that it shows and not to the part", async () => {
    const headers = { "hx-request": "true", "hx-current-url": "https://gate.example/console/files?user=a" };
    const came = await ask({ ...none, asked: { headers, target: "/console/live/page" }, basePath: "" });
    const { status, body, headers: told } = came.answer ?? {};
    const path = "/console/sign-in?next=%2Fconsole%2Ffiles%3Fuser%3Da";
    expect([status, body, told?.["hx-redirect"]]).toEqual([401, "", path]);
    expect(told).not.toHaveProperty("location");
  });

  test("a stream of events ends for good", async () => {
    const headers = { accept: "text/event-stream" };
    const { answer } = await ask({ ...none, asked: { headers } });
    expect([answer?.status, answer?.body]).toEqual([204, ""]);
    expect((await ask({ ...none, asked: { headers: { accept: "text/html" } } })).answer?.status).toBe(303);
  });
});

describe("in a session", () => {
  test("a page gets who asks, with the companies in which the console has something for them", async () => {
    const memberships = [
      { companyId: 1, companyCode: "ACME", roles: ["DI_Driver", "DI_Inquiry"] },
      { companyId: 2, companyCode: "OTHER", roles: ["DI_Driver"] },
    ] as const;
    const asked = { address: "192.0.2.9", params: { reference: "x" }, target: "/console/files/x" };
    const headers = { cookie, "last-event-id": "e7" };
    const came = await ask({ session: { memberships }, asked: { ...asked, headers } });
    expect(came.answer?.body).toBe("the page");
    const { user, ...rest } = came.request ?? {};
    expect(user).toMatchObject({ userId: 7, userName: "anna", address: "192.0.2.9", isOperator: false });
    expect(user?.companies).toEqual([{ id: 1, code: "ACME", roles: ["DI_Driver", "DI_Inquiry"] }]);
    expect(rest).toMatchObject({ requestId: "r", params: { reference: "x" }, lastEventId: "e7" });
    expect(came.noted).toEqual(["anna"]);
    expect(user?.formToken).not.toContain(openSession.id);
    expect(user?.sessionName).not.toContain(openSession.id);
    const other = await ask({ session: { id: "b".repeat(43) } });
    expect(other.request?.user.sessionName).not.toBe(user?.sessionName);
  });

  test("what a page asks by itself keeps the session no longer open", async () => {
    expect((await ask({ route: { isBackground: true } })).sought).toEqual([[openSession.id, true]]);
    expect((await ask()).sought).toEqual([[openSession.id, false]]);
  });

  test.each([
    [{}, false],
    [{ "hx-request": "true" }, true],
    [{ "hx-request": "true", "hx-boosted": "true" }, false],
    [{ "hx-request": "true", "hx-history-restore-request": "true" }, false],
    [{ "hx-request": "no" }, false],
  ])("headers %o ask for a part: %s", async (headers, isPart) => {
    expect((await ask({ asked: { headers: { cookie, ...headers } } })).request?.isPart).toBe(isPart);
  });

  test("whoever has to change the password gets to the page for that alone", async () => {
    const session = { mustChangePassword: true };
    const came = await ask({ session });
    expect([leads(came), came.request]).toEqual([[303, "/console/password"], undefined]);
    const own = await ask({ session, route: { path: "/console/password", isForPassword: true } });
    expect(own.answer?.body).toBe("the page");
    const headers = { cookie, "hx-request": "true" };
    const { answer } = await ask({ session, asked: { headers }, basePath: "/rest" });
    expect([answer?.status, answer?.headers?.["hx-redirect"]]).toEqual([401, "/rest/console/password"]);
  });

  const ofRole = (role: "DI_Inquiry" | "DI_Integration" | "DI_Driver" | "MemberAdmin") => ({
    memberships: [{ companyId: 1, companyCode: "ACME", roles: [role] }],
  });

  test.each([
    ["look", "DI_Inquiry", true],
    ["look", "DI_Integration", false],
    ["act", "MemberAdmin", true],
    ["act", "DI_Inquiry", false],
    ["administer", "MemberAdmin", true],
    ["administer", "DI_Inquiry", false],
    ["integrate", "DI_Integration", true],
    ["integrate", "DI_Inquiry", false],
    ["operator", "MemberAdmin", false],
    ["signedIn", "DI_Driver", true],
  ] as const)("a page for who may %s is shown to %s: %s", async (who, role, isShown) => {
    const { answer, refusal, request } = await ask({ route: { who }, session: ofRole(role) });
    expect(answer?.body).toBe(isShown ? "the page" : undefined);
    if (isShown) return;
    expect([refusal?.code, refusal?.message]).toEqual(["roleMissing", words.session.needed(who)]);
    expect(request).toBeUndefined();
  });

  test("the first page leads whom it is not for to the first that is, with what it has to say", async () => {
    const route = { path: "/console", who: "look" } as const;
    const query = new URLSearchParams({ done: "passwordChanged" });
    const of = (role: Parameters<typeof ofRole>[0], more: Partial<PageRequest> = {}) =>
      ask({ route, session: ofRole(role), asked: { query, ...more } });
    expect(leads(await of("DI_Integration"))).toEqual([303, "/console/hosts?done=passwordChanged"]);
    expect(leads(await of("DI_Driver", { query: new URLSearchParams() }))).toEqual([
      303,
      "/console/password",
    ]);
    expect((await of("DI_Inquiry")).answer?.body).toBe("the page");
    const sent = await ask({ route: { ...route, ...post }, session: ofRole("DI_Driver") });
    expect(sent.refusal?.code).toBe("roleMissing");
  });
});

describe("a form", () => {
  const token = () => newFormToken(openSession.id);
  const own = { cookie, "sec-fetch-site": "same-origin" };
  const send = (headers: PageRequest["headers"], formToken: string | undefined, most: number[] = []) => {
    const form = async (mostBytes: number) => {
      most.push(mostBytes);
      return new URLSearchParams(formToken === undefined ? {} : { formToken, name: "x" });
    };
    return ask({ route: post, asked: { headers, form } });
  };

  test("of a page of ours with the token of the session is taken, up to 64 KiB unless its page says otherwise", async () => {
    const most: number[] = [];
    const came = await send(own, token(), most);
    expect([came.answer?.body, came.request?.form.get("name"), most]).toEqual(["the page", "x", [65_536]]);
    const form = async (mostBytes: number) => {
      most.push(mostBytes);
      return new URLSearchParams({ formToken: token() });
    };
    await ask({ route: { ...post, maxFormBytes: 9 }, asked: { headers: own, form } });
    expect(most).toEqual([65_536, 9]);
  });

  test.each([
    [{ "sec-fetch-site": "same-origin" }, true],
    [{ "sec-fetch-site": "cross-site" }, false],
    [{ "sec-fetch-site": "same-site" }, false],
    [{ "sec-fetch-site": "none" }, false],
    // What the browser says of the site goes before the origin.
    [{ "sec-fetch-site": "cross-site", origin: "http://gate.example", host: "gate.example" }, false],
    [{ origin: "http://gate.example", host: "gate.example" }, true],
    [{ origin: "https://Gate.example:8443", host: "gate.example:8443" }, true],
    [{ origin: "https://gate.example:8443", host: "GATE.example:8443" }, true],
    [{ origin: "https://gate.example:8443", host: "gate.example" }, false],
    [{ origin: "https://evil.example", host: "gate.example" }, false],
    [{ origin: "https://gate.example/x", host: "gate.example/x" }, false],
    [{ origin: "https://gate.example/x", host: "gate.example" }, false],
    [{ origin: "xhttp://gate.example", host: "gate.example" }, false],
    [{ origin: "ftp://gate.example", host: "gate.example" }, false],
    [{ origin: "null", host: "null" }, false],
    [{ host: "gate.example" }, false],
    [{ origin: "http://gate.example" }, false],
    [{}, false],
  ])("with %o is one of ours: %s", async (headers, isOurs) => {
    const most: number[] = [];
    const { answer, refusal, request } = await send({ cookie, ...headers }, token(), most);
    expect(answer?.body).toBe(isOurs ? "the page" : undefined);
    if (isOurs) return;
    expect(refusal).toMatchObject({ code: "roleMissing", status: 403, message: words.session.foreignForm });
    // It is not even read.
    expect([request, most]).toEqual([undefined, []]);
  });

  test.each([
    ["of another session", newFormToken("b".repeat(43))],
    ["that is empty", ""],
    ["that is left out", undefined],
  ])("with a token %s is refused", async (_which, formToken) => {
    const { refusal, request } = await send(own, formToken);
    expect(refusal).toMatchObject({ code: "roleMissing", status: 403, message: words.session.oldForm });
    expect(request).toBeUndefined();
  });

  test("needs no token where nothing is sent: a page that is asked for has no form", async () => {
    const { answer, request } = await ask({ asked: { headers: { cookie, "sec-fetch-site": "cross-site" } } });
    expect([answer?.body, request?.form.size]).toEqual(["the page", 0]);
  });
});
