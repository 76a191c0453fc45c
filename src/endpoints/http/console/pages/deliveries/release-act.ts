/** Deliveries that are held since a restore, and their release: for operators, as it concerns all companies. */
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import type { ConsoleUser } from "../../console-user.ts";
import { type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, buttonLink, withQuery } from "../../kit/link.ts";
import { notice } from "../../kit/notice.ts";
import { readReason } from "../../kit/reason.ts";
import { prose } from "../../kit/shown-text.ts";
import { words } from "../../words/words.ts";
import { redirect } from "../../session/session-route.ts";
import { actPage, readSeenAt, type SentForm, tryAct } from "../acts/act-page.ts";
import { lookScope } from "../look-scope.ts";

const said = words.deliveries;
const path = "/console/deliveries/act/release";

/** What is held, in words, and for operators the way to release it. */
export function holdNotice(hold: string, user: ConsoleUser, to: Addresses): Html {
  const release = user.isOperator
    ? buttonLink(to.at("/deliveries/act/release"), said.release.label)
    : undefined;
  return notice("bad", html`<p><strong>${said.held}</strong></p><p>${prose(hold)}</p>${release}`);
}

async function show(services: ConsoleServices, request: ConsoleRequest, sent?: SentForm): Promise<Answer> {
  const to = addresses(services);
  const asked = { filter: {}, limit: 1 };
  const { hold } = await services.ask("deliveries", lookScope(request.user), asked);
  const shownPage = {
    ...{ title: said.release.label, here: "deliveries" as const, label: said.release.label },
    ...{ action: to.at("/deliveries/act/release"), explanation: said.release.explanation },
    back: { text: said.title, href: to.at("/deliveries") },
    preview: notice(hold === undefined ? "ok" : "bad", prose(hold ?? words.acts.release.notHeld)),
    isImpossible: hold === undefined,
  };
  return actPage(services, request, shownPage, sent);
}

async function release(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { user, form } = request;
  const { reason, fault } = readReason(form);
  if (fault !== undefined) return await show(services, request, { reason, fault });
  const by = { user, companyId: undefined, reason };
  const tried = await tryAct(() => services.act("deliveries.release", by, { seenAt: readSeenAt(form) }));
  if (tried.kind === "done")
    return redirect(services, withQuery("/console/deliveries", { done: "deliveriesReleased" }));
  const refusal = tried.kind === "changed" ? tried.why : words.acts.notThere;
  return await show(services, request, { reason, refusal });
}

const shared = { access: "console", path, who: "operator" } as const;

export const releaseRoutes: readonly ConsoleRoute[] = [
  {
    ...shared,
    ...{ name: "consoleReleasePage", method: "GET" },
    run: (services, request) => show(services, request),
  },
  { ...shared, ...{ name: "consoleRelease", method: "POST" }, run: release },
];
