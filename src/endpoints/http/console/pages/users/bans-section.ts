/** Addresses that are banned, and the act that ends it; for operators alone. */
import { systemClock } from "../../../../../lib/clock.ts";
import type { ConsoleRequest } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { countText } from "../../kit/amounts.ts";
import { hiddenField } from "../../kit/fields.ts";
import { reasonForm } from "../../kit/forms.ts";
import { type Html, html } from "../../kit/html.ts";
import { addresses } from "../../kit/link.ts";
import { notice } from "../../kit/notice.ts";
import { section } from "../../kit/section.ts";
import { code, sentence } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import type { SentForm } from "../acts/act-page.ts";

const said = words.users.bans;

/** More are a flood, which the firewall has to stop. */
const mostShown = 200;

/** A form to lift a ban that was sent, and what was wrong with it. */
export interface SentBan extends SentForm {
  /** The address or network that it names. */
  readonly name: string;
}

export async function bansSection(
  services: ConsoleServices,
  { user }: ConsoleRequest,
  sent?: SentBan,
): Promise<Html> {
  const to = addresses(services);
  const seenAt = systemClock.now();
  const bans = (await services.look("bans", user, {})).slice(0, mostShown);
  const rows = bans.map(({ name, until, count }, index) => [
    code(name),
    timeText(until),
    countText(count),
    reasonForm({
      ...{
        id: `ban-${index}`,
        action: to.at("/users/bans/lift"),
        formToken: user.formToken,
        label: said.lift,
      },
      explanation: said.explanation(name),
      ...(sent?.name === name ? { error: sent.fault, reason: sent.reason } : {}),
      fields: html`${hiddenField("name", name)}${hiddenField("seenAt", seenAt)}`,
    }),
  ]);
  const { address, until, count, act } = said.head;
  const head = [address, until, { text: count, isNumber: true }, act];
  const list = table(head, rows, { caption: said.title, isCaptionHidden: true, empty: said.none });
  const isListed = bans.some(({ name }) => name === sent?.name);
  const refusal = sent?.refusal ?? (isListed ? undefined : words.acts.ban.ended);
  const told =
    sent === undefined || refusal === undefined
      ? undefined
      : notice("bad", html`<p>${code(sent.name)}: ${words.acts.notDone} ${sentence(refusal)}</p>`);
  return section(said.title, [told, html`<p>${said.explained}</p>${list}`], { id: "bans" });
}
