/** Acts on one thing that a company and a name tell, such as a target: two routes for each, made by one description. */
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { type ConsoleCompany, companiesFor } from "../../console-user.ts";
import type { Content } from "../../kit/html.ts";
import { addresses, withQuery } from "../../kit/link.ts";
import type { PageKey } from "../../kit/navigation.ts";
import { readReason } from "../../kit/reason.ts";
import { words } from "../../words/words.ts";
import { redirect } from "../../session/session-route.ts";
import { notFoundPage } from "../not-found-page.ts";
import { actPage, readSeenAt, type SentForm, tryAct } from "./act-page.ts";

/** What the act is about: found for the page, with rights. */
export interface NamedSubject {
  readonly company: ConsoleCompany;
  readonly name: string;
}

export interface NamedAct {
  /** Of the routes, in logs. */
  readonly routeName: string;
  readonly path: `/console/${string}`;
  readonly here: PageKey;
  /** Path below `/console` where it leads, done or not. */
  readonly back: string;
  /** Its key among the words of what was done. */
  readonly done: string;
  readonly title: (name: string) => string;
  readonly label: string;
  readonly explanation: Content;
  /** What it would do; undefined when there is no such thing. */
  preview(
    services: ConsoleServices,
    request: ConsoleRequest,
    subject: NamedSubject,
  ): Promise<Content | undefined>;
  act(
    services: ConsoleServices,
    request: ConsoleRequest,
    subject: NamedSubject & { readonly reason: string; readonly seenAt: number },
  ): Promise<unknown>;
}

/** The company of the address, when the user may act for it. */
function subjectOf({ user, params }: ConsoleRequest): NamedSubject | undefined {
  const company = companiesFor(user, "act").find(({ code }) => code === params["company"]);
  return company === undefined ? undefined : { company, name: params["name"] ?? "" };
}

async function show(
  services: ConsoleServices,
  request: ConsoleRequest,
  { act, sent }: { readonly act: NamedAct; readonly sent?: SentForm },
): Promise<Answer> {
  const subject = subjectOf(request);
  const preview = subject === undefined ? undefined : await act.preview(services, request, subject);
  if (subject === undefined || preview === undefined)
    return notFoundPage(services, request, { text: words.acts.notThere });
  const to = addresses(services);
  const { here, label, explanation } = act;
  const shownPage = {
    ...{ here, label, explanation, preview, title: act.title(subject.name) },
    action: `${services.basePath()}${request.target.split("?")[0] ?? ""}`,
    back: { text: words.frame.names[here], href: to.at(act.back) },
  };
  return actPage(services, request, shownPage, sent);
}

async function run(services: ConsoleServices, request: ConsoleRequest, act: NamedAct): Promise<Answer> {
  const subject = subjectOf(request);
  if (subject === undefined) return notFoundPage(services, request, { text: words.acts.notThere });
  const { reason, fault } = readReason(request.form);
  if (fault !== undefined) return await show(services, request, { act, sent: { reason, fault } });
  const seenAt = readSeenAt(request.form);
  const tried = await tryAct(() => act.act(services, request, { ...subject, reason, seenAt }));
  if (tried.kind === "unknown") return notFoundPage(services, request, { text: words.acts.notThere });
  if (tried.kind === "changed")
    return await show(services, request, { act, sent: { reason, refusal: tried.why } });
  return redirect(services, withQuery(`/console${act.back}`, { done: act.done }));
}

/** The page of the act, and the act. */
export function namedActRoutes(act: NamedAct): readonly ConsoleRoute[] {
  const shared = { access: "console", path: act.path, who: "act" } as const;
  return [
    {
      ...shared,
      ...{ name: `${act.routeName}Page`, method: "GET" },
      run: (services, request) => show(services, request, { act }),
    },
    {
      ...shared,
      ...{ name: act.routeName, method: "POST" },
      run: (services, request) => run(services, request, act),
    },
  ];
}
