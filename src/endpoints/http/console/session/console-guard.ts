/**
 * Lets a request to a page of the console only if its session and its user may have it:
 *
 *   transport -> session -> password to be changed first? -> role -> (a form) from a page of ours, token -> page
 *
 * Without a session the browser is sent to the sign-in, and comes back from there.
 */
import { hash } from "node:crypto";
import { isNamedOperator } from "../../../../domain/users/operator.ts";
import { given } from "../../../../lib/given.ts";
import type { ConsoleSession, ConsoleSessions } from "../../../../sign-in/console-sessions.ts";
import { type Answer, type StreamBody, textType } from "../../server/answer.ts";
import { HttpRefusal } from "../../server/http-refusal.ts";
import type { PageRequest, PageRoute } from "../../server/route.ts";
import type { ConsoleRequest, ConsoleRoute } from "../console-route.ts";
import { type ConsoleCompany, type ConsoleUser, rolesFor } from "../console-user.ts";
import { firstPathOf, mayUse } from "../kit/navigation.ts";
import { words } from "../words/words.ts";
import { isFormToken, newFormToken } from "./form-token.ts";
import { isFromOwnPage } from "./own-origin.ts";
import { nextPageOf } from "./next-page.ts";
import { cookieRemoval, sessionIdIn } from "./session-cookie.ts";
import { type ConsoleDeps, redirect, type SessionRoute } from "./session-route.ts";

const usualFormBytes = 65_536;
/** How long a stream may outlive its session. */
const streamCheckMs = 15_000;

const consoleRoles = new Set(Object.values(rolesFor).flat());

function companiesOf({ memberships }: ConsoleSession): readonly ConsoleCompany[] {
  return memberships
    .filter(({ roles }) => roles.some((role) => consoleRoles.has(role)))
    .map(({ companyId, companyCode, roles }) => ({ id: companyId, code: companyCode, roles }));
}

function userOf(session: ConsoleSession, operators: readonly string[], address: string): ConsoleUser {
  const { userId, userName, id } = session;
  return {
    ...{ userId, userName, address },
    companies: companiesOf(session),
    isOperator: isNamedOperator(operators, session),
    formToken: newFormToken(id),
    sessionName: hash("sha256", `name of the session ${id}`),
  };
}

function isByScript({ headers }: PageRequest): boolean {
  return headers["hx-request"] === "true";
}

/** The page that the viewer sees: that of the address, or, when a part or a form was asked for, the one around it. */
function shownPage({ method }: ConsoleRoute | SessionRoute, asked: PageRequest, basePath: string): string {
  if (method === "GET" && !isByScript(asked)) return nextPageOf(asked.target);
  const { referer } = asked.headers;
  const current = asked.headers["hx-current-url"] ?? referer;
  if (typeof current !== "string" || !URL.canParse(current)) return nextPageOf(undefined);
  const { pathname, search } = new URL(current);
  const isBelow = basePath !== "" && pathname.startsWith(`${basePath}/`);
  return nextPageOf(`${isBelow ? pathname.slice(basePath.length) : pathname}${search}`);
}

/** Leads the browser away from where it is; a script of the page does it itself. */
function leadTo({ services }: ConsoleDeps, asked: PageRequest, path: string): Answer {
  // A stream is not led anywhere: this ends it for good.
  if (asked.headers.accept?.includes("text/event-stream") === true)
    return { status: 204, contentType: textType, body: "" };
  if (!isByScript(asked)) return redirect(services, path);
  const headers = { "hx-redirect": `${services.basePath()}${path}` };
  return { status: 401, headers, contentType: textType, body: "" };
}

function leadToSignIn(deps: ConsoleDeps, route: ConsoleRoute | SessionRoute, asked: PageRequest): Answer {
  const next = shownPage(route, asked, deps.services.basePath());
  const hadSession = sessionIdIn(asked.headers, asked) !== undefined;
  // Whoever has sent a form has to know that nothing came of it.
  const isForm = route.method === "POST" && route.path !== "/console/sign-out";
  const ended = isForm ? "form" : hadSession ? "yes" : undefined;
  const query = new URLSearchParams({ next, ...given({ ended }) });
  const answer = leadTo(deps, asked, `/console/sign-in?${query}`);
  if (!hadSession) return answer;
  return { ...answer, headers: { ...answer.headers, "set-cookie": cookieRemoval(asked.isEncrypted) } };
}

async function formOf(route: ConsoleRoute | SessionRoute, asked: PageRequest, session: ConsoleSession) {
  if (route.method !== "POST") return new URLSearchParams();
  if (!isFromOwnPage(asked.headers))
    throw new HttpRefusal("roleMissing", words.session.foreignForm, { status: 403 });
  const form = await asked.form(route.maxFormBytes ?? usualFormBytes);
  if (isFormToken(session.id, form.get("formToken"))) return form;
  throw new HttpRefusal("roleMissing", words.session.oldForm, { status: 403 });
}

/** Ends a stream soon after its session. */
function boundToSession(body: StreamBody, sessions: ConsoleSessions, id: string): StreamBody {
  return {
    turnAway: () => body.turnAway(),
    subscribe(stream) {
      const unsubscribe = body.subscribe(stream);
      const check = async () => {
        if ((await sessions.find(id, { isBackground: true })) === undefined) stream.end();
      };
      // What cannot be found out now is found out the next time.
      const timer = setInterval(() => void check().catch(() => undefined), streamCheckMs);
      return () => {
        clearInterval(timer);
        unsubscribe();
      };
    },
  };
}

/** htmx asks for the whole page when it follows a link, and for a part otherwise. */
function isPartOf({ headers }: PageRequest): boolean {
  const isWhole = headers["hx-boosted"] === "true" || headers["hx-history-restore-request"] === "true";
  return headers["hx-request"] === "true" && !isWhole;
}

function firstPageOf(user: ConsoleUser, query: URLSearchParams): string {
  return `/console${firstPathOf(user)}${query.size === 0 ? "" : `?${query}`}`;
}

async function answerIn(
  deps: ConsoleDeps,
  route: ConsoleRoute | SessionRoute,
  { asked, session }: { readonly asked: PageRequest; readonly session: ConsoleSession },
): Promise<Answer> {
  const { requestId, params, query, target, signal } = asked;
  const user = userOf(session, deps.operators(), asked.address);
  if (!mayUse(user, route.who)) {
    // The first page is not for everybody; a sign-in leads there all the same.
    if (route.path === "/console" && route.method === "GET")
      return leadTo(deps, asked, firstPageOf(user, query));
    throw new HttpRefusal("roleMissing", words.session.needed(route.who));
  }
  const form = await formOf(route, asked, session);
  const request: ConsoleRequest = {
    ...{ requestId, user, params, query, form, target, signal },
    isPart: isPartOf(asked),
    lastEventId: asked.headers["last-event-id"]?.toString(),
  };
  if ("runInSession" in route) return await route.runInSession(deps, { request, session, asked });
  return await route.run(deps.services, request);
}

async function respond(
  deps: ConsoleDeps,
  route: ConsoleRoute | SessionRoute,
  asked: PageRequest,
): Promise<Answer> {
  asked.checkTransport();
  const id = sessionIdIn(asked.headers, asked);
  const { isBackground = false } = route;
  const session = id === undefined ? undefined : await deps.sessions.find(id, { isBackground });
  if (session === undefined) return leadToSignIn(deps, route, asked);
  asked.noteUser(session.userName);
  if (session.mustChangePassword && !("isForPassword" in route))
    return leadTo(deps, asked, "/console/password");
  const answer = await answerIn(deps, route, { asked, session });
  const { body } = answer;
  if (typeof body === "string" || !("subscribe" in body)) return answer;
  return { ...answer, body: boundToSession(body, deps.sessions, session.id) };
}

/** The routes as the server takes them. */
export function guardedRoutes(
  routes: readonly (ConsoleRoute | SessionRoute)[],
  deps: ConsoleDeps,
): readonly PageRoute[] {
  return routes.map((route) => {
    const { name, method, path } = route;
    const shown = { access: "console", version: "none", errorShape: "page" } as const;
    return { ...shown, name, method, path, respond: (asked) => respond(deps, route, asked) };
  });
}
