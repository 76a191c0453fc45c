/** The own session and password: what everybody who is signed in may do. */
import { passwordForm } from "../../../../domain/users/user.ts";
import { DropgateError } from "../../../../lib/errors.ts";
import type { Answer } from "../../server/answer.ts";
import { hiddenField, submitButton, textField } from "../kit/fields.ts";
import { type Html, html } from "../kit/html.ts";
import { notice } from "../kit/notice.ts";
import { page, plainPage } from "../kit/page.ts";
import { section } from "../kit/section.ts";
import { words } from "../words/words.ts";
import { cookieFor, cookieRemoval, isBrowserOnTls } from "./session-cookie.ts";
import { type ConsoleDeps, type InSession, redirect, type SessionRoute } from "./session-route.ts";

const text = words.session;

interface PasswordFaults {
  readonly current?: string;
  readonly next?: string;
  readonly repeated?: string;
}

function passwordField(
  name: string,
  label: string,
  more: { autocomplete: string; hint?: string; error?: string | undefined },
): Html {
  return textField({ name, label, type: "password", isRequired: true, maxLength: 1_000, ...more });
}

function passwordFormOf(action: string, formToken: string, faults: PasswordFaults): Html {
  const isNew = { autocomplete: "new-password" };
  return html`<form method="post" action="${action}">${hiddenField("formToken", formToken)}${passwordField(
    "current",
    text.currentPassword,
    { autocomplete: "current-password", error: faults.current },
  )}${passwordField("next", text.newPassword, {
    ...isNew,
    hint: text.newPasswordHint(passwordForm),
    error: faults.next,
  })}${passwordField("repeated", text.repeatedPassword, {
    ...isNew,
    error: faults.repeated,
  })}<p>${text.passwordExplained}</p><div class="buttons">${submitButton(text.changePassword)}</div></form>`;
}

/** Whoever has to change the password first sees nothing else of the console. */
function passwordPage(deps: ConsoleDeps, given: InSession, faults: PasswordFaults = {}): Answer {
  const { services } = deps;
  const { request, session } = given;
  const at = (path: string) => `${services.basePath()}/console${path}`;
  const { formToken } = request.user;
  const status = Object.keys(faults).length === 0 ? 200 : 422;
  const form = passwordFormOf(at("/password"), formToken, faults);
  if (session.mustChangePassword) {
    const content = html`${notice("wait", html`<p>${text.mustChange}</p>`)}${form}<form method="post" action="${at("/sign-out")}">${hiddenField("formToken", formToken)}${submitButton(words.frame.signOut)}</form>`;
    return plainPage(services.basePath(), { title: text.passwordTitle, content, status });
  }
  const everywhere = html`<p>${text.everywhereExplained}</p><form method="post" action="${at("/sign-out-everywhere")}">${hiddenField("formToken", formToken)}${submitButton(text.everywhere)}</form>`;
  const content = html`${section(text.changePassword, form)}${section(text.everywhereTitle, everywhere)}`;
  return page(services, request, { title: text.passwordTitle, here: undefined, content, status });
}

async function changePassword(deps: ConsoleDeps, given: InSession): Promise<Answer> {
  const { request, session, asked } = given;
  const { form, user } = request;
  const [current, next] = [form.get("current") ?? "", form.get("next") ?? ""];
  if (next !== form.get("repeated")) return passwordPage(deps, given, { repeated: text.differ });
  const { address } = user;
  const refused = await deps.sessions.confirm(session, { password: current, address });
  if (refused !== undefined) return passwordPage(deps, given, { current: refused.message });
  try {
    await deps.changePassword({ userId: session.userId, password: next, address });
  } catch (error) {
    if (!(error instanceof DropgateError) || error.code !== "wrongType") throw error;
    return passwordPage(deps, given, { next: error.message });
  }
  const peer = { address, agent: asked.headers["user-agent"] ?? "" };
  const renewed = await deps.sessions.open(session.userId, peer);
  const cookie = cookieFor(renewed.id, isBrowserOnTls(asked.headers, asked));
  return redirect(deps.services, "/console?done=passwordChanged", { "set-cookie": cookie });
}

async function signOut(deps: ConsoleDeps, given: InSession, isEverywhere: boolean): Promise<Answer> {
  const { asked, session, request } = given;
  await deps.sessions.end(session, { address: request.user.address, isEverywhere });
  const cookie = cookieRemoval(isBrowserOnTls(asked.headers, asked));
  return redirect(deps.services, "/console/sign-in?out=yes", { "set-cookie": cookie });
}

const shared = { access: "console", who: "signedIn", isForPassword: true } as const;

export const sessionRoutes: readonly SessionRoute[] = [
  {
    ...shared,
    ...{ name: "consolePasswordPage", method: "GET", path: "/console/password" },
    runInSession: async (deps, given) => passwordPage(deps, given),
  },
  {
    ...shared,
    ...{ name: "consolePassword", method: "POST", path: "/console/password" },
    runInSession: changePassword,
  },
  {
    ...shared,
    ...{ name: "consoleSignOut", method: "POST", path: "/console/sign-out" },
    runInSession: (deps, given) => signOut(deps, given, false),
  },
  {
    ...shared,
    ...{ name: "consoleSignOutEverywhere", method: "POST", path: "/console/sign-out-everywhere" },
    runInSession: (deps, given) => signOut(deps, given, true),
  },
];
