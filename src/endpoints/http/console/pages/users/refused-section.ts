/** Why a user was not let in lately, and what to do about it. */
import type { RefusalReason } from "../../../../../sign-in/sign-in-refusals.ts";
import type { ShownRefusedSignIn } from "../../console-acts.ts";
import type { ConsoleRequest } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { countText } from "../../kit/amounts.ts";
import { badge } from "../../kit/badge.ts";
import { type Html, html } from "../../kit/html.ts";
import { addresses, link } from "../../kit/link.ts";
import { remedy } from "../../kit/notice.ts";
import { section } from "../../kit/section.ts";
import { code } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";

const said = words.users.refused;

function whyOf(reason: RefusalReason): Html {
  const { why, todo } = said.reasons[reason];
  return html`<p>${why}</p>${remedy(todo)}`;
}

function bannedText(
  { bannedUntil }: ShownRefusedSignIn,
  services: ConsoleServices,
  isOperator: boolean,
): Html {
  if (bannedUntil === undefined) return html``;
  const lift = isOperator ? link(`${addresses(services).at("/users")}#bans`, said.lift) : said.askOperator;
  return html`<p>${badge("bad", said.banned)} ${timeText(bannedUntil)}. ${lift}</p>`;
}

/** The last refused sign-ins since the start of the program. */
export async function refusedSection(
  services: ConsoleServices,
  { user: viewer }: ConsoleRequest,
  userId: number,
): Promise<Html> {
  const refused = await services.look("user.refused", viewer, { userId });
  const rows = refused.map((one) => [
    timeText(one.at),
    code(one.address),
    said.protocols[one.protocol],
    countText(one.times),
    html`${bannedText(one, services, viewer.isOperator)}${whyOf(one.reason)}`,
  ]);
  const { last, address, protocol, times, why } = said.head;
  const head = [last, address, protocol, { text: times, isNumber: true }, why];
  const list = table(head, rows, { caption: said.title, isCaptionHidden: true, empty: said.none });
  return section(said.title, html`${list}<p><small>${said.note}</small></p>`, { id: "refused" });
}
