/** The sign-in: the only page that is shown without a session. */
import { retryAfter } from "../../server/http-refusal.ts";
import { HttpRefusal } from "../../server/http-refusal.ts";
import type { Answer } from "../../server/answer.ts";
import type { PageRequest, PageRoute } from "../../server/route.ts";
import { hiddenField, submitButton, textField } from "../kit/fields.ts";
import { html } from "../kit/html.ts";
import { notice } from "../kit/notice.ts";
import { plainPage } from "../kit/page.ts";
import { words } from "../words/words.ts";
import { nextPageOf } from "./next-page.ts";
import { isFromOwnPage } from "./own-origin.ts";
import { cookieFor, isBrowserOnTls, sessionIdIn } from "./session-cookie.ts";
import { type ConsoleDeps, redirect } from "./session-route.ts";

const maxFormBytes = 16_384;
/** As much of the refusal of a ban as a page needs. */
const usualRetryMs = 60_000;

interface Shown {
  readonly next: string;
  readonly userName?: string;
  readonly told?: { readonly kind: "bad" | "off"; readonly text: string };
  readonly status?: number;
}

function signInPage({ services }: ConsoleDeps, { next, userName = "", told, status = 200 }: Shown): Answer {
  const basePath = services.basePath();
  const { session: text } = words;
  const content = html`${told && notice(told.kind, html`<p>${told.text}</p>`)}<form class="sign-in" method="post" action="${basePath}/console/sign-in">${hiddenField(
    "next",
    next,
  )}${textField({
    ...{ name: "userName", label: text.userName, value: userName, autocomplete: "username" },
    ...{ isRequired: true, maxLength: 200 },
  })}${textField({
    ...{ name: "password", label: text.password, type: "password", autocomplete: "current-password" },
    ...{ isRequired: true, maxLength: 1_000 },
  })}<div class="buttons">${submitButton(text.signIn)}</div></form>`;
  return plainPage(basePath, { title: text.signInTitle, content, status });
}

function toldOf(query: URLSearchParams): Pick<Shown, "told"> {
  const ended = query.get("ended");
  if (ended === "form") return { told: { kind: "bad", text: words.session.endedBeforeForm } };
  if (ended !== null) return { told: { kind: "off", text: words.session.ended } };
  return query.has("out") ? { told: { kind: "off", text: words.done.signedOut } } : {};
}

async function show(deps: ConsoleDeps, asked: PageRequest): Promise<Answer> {
  asked.checkTransport();
  const next = nextPageOf(asked.query.get("next"));
  const id = sessionIdIn(asked.headers, asked);
  const session = id === undefined ? undefined : await deps.sessions.find(id, { isBackground: true });
  if (session !== undefined) return redirect(deps.services, next);
  return signInPage(deps, { next, ...toldOf(asked.query) });
}

async function signIn(deps: ConsoleDeps, asked: PageRequest): Promise<Answer> {
  asked.checkTransport();
  if (!isFromOwnPage(asked.headers))
    throw new HttpRefusal("roleMissing", words.session.foreignForm, { status: 403 });
  const form = await asked.form(maxFormBytes);
  const next = nextPageOf(form.get("next"));
  const userName = form.get("userName") ?? "";
  const peer = { address: asked.address, agent: asked.headers["user-agent"] ?? "" };
  const given = { userName, password: form.get("password") ?? "" };
  const outcome = await deps.sessions.signIn(given, peer, asked.signal());
  if (outcome.kind === "refused") {
    const told = { kind: "bad", text: outcome.message } as const;
    const isBarred = outcome.code === "tooManyAttempts";
    const page = signInPage(deps, { next, userName, told, status: isBarred ? 429 : 401 });
    return isBarred ? { ...page, headers: retryAfter(outcome.retryAfterMs ?? usualRetryMs) } : page;
  }
  asked.noteUser(userName);
  await endFormer(deps, asked);
  const cookie = cookieFor(outcome.session.id, isBrowserOnTls(asked.headers, asked));
  return redirect(deps.services, next, { "set-cookie": cookie });
}

/** The browser forgets the session that it had. */
async function endFormer({ sessions }: ConsoleDeps, asked: PageRequest): Promise<void> {
  const id = sessionIdIn(asked.headers, asked);
  const former = id === undefined ? undefined : await sessions.find(id, { isBackground: true });
  if (former !== undefined) await sessions.end(former, { address: asked.address, isEverywhere: false });
}

/** Shows the form, and takes it. */
export function signInRoutes(deps: ConsoleDeps): readonly PageRoute[] {
  const shown = { access: "console", version: "none", errorShape: "page" } as const;
  const shared = { ...shown, path: "/console/sign-in" } as const;
  return [
    { ...shared, name: "consoleSignInPage", method: "GET", respond: (asked) => show(deps, asked) },
    { ...shared, name: "consoleSignIn", method: "POST", respond: (asked) => signIn(deps, asked) },
  ];
}
