/** What all answers of the console have in common: their policy, and the page of a refusal. */
import type { Fault } from "../../../../lib/errors.ts";
import { html } from "../kit/html.ts";
import { notice } from "../kit/notice.ts";
import { plainPage } from "../kit/page.ts";
import type { Answer } from "../../server/answer.ts";
import { pagePolicy } from "../../server/page-policy.ts";
import type { PageArea } from "../../server/route.ts";
import { words } from "../words/words.ts";

const headers = {
  "content-security-policy": pagePolicy({ formsTo: "'self'" }),
  "x-frame-options": "DENY",
  // Without it, browsers leave the origin out of the forms that they send.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

function refusal(
  basePath: string,
  faults: readonly Fault[],
  { status, requestId }: { readonly status: number; readonly requestId: string },
): Answer {
  const content = html`${notice(
    "bad",
    faults.map(({ message }) => html`<p>${message}</p>`),
  )}<p><a href="${basePath}/console">${words.session.toFirstPage}</a></p><p>${words.session.requestId} <code>${requestId}</code></p>`;
  return plainPage(basePath, { title: words.session.refusalTitle(status), content, status });
}

/** The paths of the console. */
export function consoleArea(basePath: () => string): PageArea {
  return { root: "console", headers, refusal: (faults, about) => refusal(basePath(), faults, about) };
}
