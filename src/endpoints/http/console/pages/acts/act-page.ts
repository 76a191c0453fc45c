/**
 * The page of an act: what it would do, the reason, the button. It is shown before the act, and again with what was wrong.
 *
 *   GET   what it would do, and the form
 *   POST  reason missing: the form again (400) · changed meanwhile: the form again, with who was quicker (409) · done: 303
 */
import type { Answer } from "../../../server/answer.ts";
import { ActRefused } from "../../console-acts.ts";
import type { ConsoleRequest } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { hiddenField } from "../../kit/fields.ts";
import { reasonForm } from "../../kit/forms.ts";
import { type Content, html } from "../../kit/html.ts";
import { link } from "../../kit/link.ts";
import type { PageKey } from "../../kit/navigation.ts";
import { notice } from "../../kit/notice.ts";
import { page } from "../../kit/page.ts";
import { sentence } from "../../kit/shown-text.ts";
import { words } from "../../words/words.ts";

export interface ActPage {
  readonly title: string;
  readonly here: PageKey;
  /** Where the act leads back to, when nothing is done. */
  readonly back: { readonly text: string; readonly href: string };
  /** Where the form goes. */
  readonly action: string;
  readonly label: string;
  /** What it would do, above the form. */
  readonly preview: Content;
  /** What happens then, and what cannot be taken back. */
  readonly explanation: Content;
  /** Hidden fields besides `seenAt`. */
  readonly fields?: Content;
  /** Nothing can be done: there is no form. */
  readonly isImpossible?: boolean;
}

/** A form that was sent, and what was wrong with it. */
export interface SentForm {
  readonly reason: string;
  readonly fault?: string | undefined;
  /** Why nothing was done, though the form was right. */
  readonly refusal?: string | undefined;
}

export function actPage(
  services: ConsoleServices,
  request: ConsoleRequest,
  shownPage: ActPage,
  sent?: SentForm,
): Answer {
  const { title, here, back, action, label, preview, explanation, fields, isImpossible = false } = shownPage;
  const { formToken } = request.user;
  const form = reasonForm({
    ...{ id: "act", action, formToken, label, explanation, isAlone: true },
    ...{ error: sent?.fault, reason: sent?.reason ?? "" },
    fields: [hiddenField("seenAt", Date.now()), fields],
  });
  const refusal =
    sent?.refusal === undefined
      ? undefined
      : notice("bad", html`<p>${words.acts.notDone} ${sentence(sent.refusal)}</p>`);
  const failed = sent?.fault === undefined ? 409 : 400;
  return page(services, request, {
    ...{ title, here, trail: [back], status: sent === undefined ? 200 : failed },
    content: [
      refusal,
      preview,
      isImpossible ? undefined : form,
      html`<p>${link(back.href, words.acts.back)}</p>`,
    ],
  });
}

/** When the page was made that was agreed to; long ago when the form does not say, so that nothing newer is touched. */
export function readSeenAt(form: URLSearchParams): number {
  const text = form.get("seenAt") ?? "";
  return /^\d{1,15}$/.test(text) ? Math.min(Number(text), Date.now()) : 0;
}

export type Tried<Done> =
  | { readonly kind: "done"; readonly done: Done }
  | { readonly kind: "changed"; readonly why: string }
  | { readonly kind: "unknown" };

/** Tries an act. What is refused is a value; all else is thrown. */
export async function tryAct<Done>(act: () => Promise<Done>): Promise<Tried<Done>> {
  try {
    return { kind: "done", done: await act() };
  } catch (error) {
    if (!(error instanceof ActRefused)) throw error;
    return error.kind === "unknown" ? { kind: "unknown" } : { kind: "changed", why: error.message };
  }
}
