/** A page of the console as an answer. */
import { type Answer, htmlType } from "../../server/answer.ts";
import type { AssetName } from "../assets/assets.ts";
import type { ConsoleRequest } from "../console-route.ts";
import type { ConsoleUser } from "../console-user.ts";
import type { ConsoleServices } from "../console-services.ts";
import { words } from "../words/words.ts";
import { hiddenField } from "./fields.ts";
import { frame } from "./frame.ts";
import { type Content, type Html, html } from "./html.ts";
import { type Addresses, addresses, link } from "./link.ts";
import { mayUse, navigation, type PageKey, pathOfPage } from "./navigation.ts";
import { notice } from "./notice.ts";
import { shortened } from "./shown-text.ts";

export interface Page {
  /** The heading of the first order, and the title of the window; it may be a text of others. */
  readonly title: string;
  /** Where in the navigation; undefined for pages that are not in it. */
  readonly here: PageKey | undefined;
  readonly content: Content;
  /** 200 unless given. */
  readonly status?: number;
  /** Between the page of the navigation and this one. */
  readonly trail?: readonly { readonly text: string; readonly href: string }[];
  /** What the page needs beside the script of the console, such as `live` and `charts` of `assets.ts`. */
  readonly scripts?: readonly AssetName[];
}

function findBox(to: Addresses): Html {
  return html`<form class="find" role="search" method="get" action="${to.at("/find")}" aria-label="${words.frame.find}"><label class="unseen" for="find-box">${words.frame.findLabel}</label><input type="search" id="find-box" name="q" maxlength="300" autocomplete="off" placeholder="${words.frame.findHint}"><button type="submit">${words.frame.find}</button></form>`;
}

function viewer(user: ConsoleUser, to: Addresses): Html {
  const codes = user.companies.map(({ code }) => code);
  const [first] = codes;
  const companies = codes.length > 1 ? words.frame.companies(codes.length) : (first ?? "");
  return html`<div class="viewer"><span>${shortened(user.userName, 40)}${
    companies === "" ? "" : html` <span class="company" title="${codes.join(", ")}">${companies}</span>`
  }</span> ${link(to.at("/password"), words.frame.password)}<form method="post" action="${to.at("/sign-out")}">${hiddenField(
    "formToken",
    user.formToken,
  )}<button type="submit" class="plain">${words.frame.signOut}</button></form></div>`;
}

function top(user: ConsoleUser, here: PageKey | undefined, to: Addresses): Html {
  return html`<header class="top"><div class="bar"><a class="brand" href="${to.at("")}">dropgate</a>${
    mayUse(user, "look") ? findBox(to) : ""
  }${viewer(user, to)}</div>${navigation(user, here, to)}</header>`;
}

function trailOf({ here, trail }: Page, to: Addresses): Html {
  if (trail === undefined) return html``;
  const start = here === undefined ? [] : [{ text: words.frame.names[here], href: to.at(pathOfPage(here)) }];
  // An act begins at the page of the navigation itself as often as at one behind it.
  const behind = trail.filter(({ href }) => href !== start[0]?.href);
  const steps = [...start, ...behind].map(
    ({ text, href }) => html`<li>${link(href, shortened(text, 60))}</li>`,
  );
  return html`<nav class="trail" aria-label="${words.frame.trail}"><ol>${steps}</ol></nav>`;
}

/** What an act has done, told on the page that it leads to (`?done=<key>`); any other text is not shown. */
function doneNotice(request: ConsoleRequest): Html | undefined {
  const key = request.query.get("done");
  const told = Object.entries(words.done).find(([name]) => name === key);
  return told === undefined ? undefined : notice("ok", told[1]);
}

/** The page in its frame, or its content alone when htmx asks for a part of it. */
export function page(
  services: Pick<ConsoleServices, "basePath">,
  request: ConsoleRequest,
  shownPage: Page,
): Answer {
  const { title, here, content, status = 200, scripts = [] } = shownPage;
  if (request.isPart) return { status, contentType: htmlType, body: html`${content}`.text };
  const to = addresses(services);
  const body = frame({
    ...{ basePath: services.basePath(), title, scripts },
    top: top(request.user, here, to),
    content: html`${trailOf(shownPage, to)}<h1>${shortened(title, 200)}</h1>
<div id="notices">${doneNotice(request)}</div>
${content}`,
  });
  return { status, contentType: htmlType, body };
}

/** Leads to another address (303): after a form, or where the page is another's. */
export function seeOther(location: string, headers: Readonly<Record<string, string>> = {}): Answer {
  const contentType = "text/plain; charset=utf-8";
  return { status: 303, headers: { ...headers, location }, contentType, body: "" };
}

/** A page for who is not signed in: the sign-in itself, and faults. */
export function plainPage(basePath: string, { title, content, status = 200 }: Omit<Page, "here">): Answer {
  const top = html`<header class="top"><div class="bar"><span class="brand">dropgate</span></div></header>`;
  const body = frame({ basePath, title, top, content: html`<h1>${title}</h1>\n${content}` });
  return { status, contentType: htmlType, body };
}
