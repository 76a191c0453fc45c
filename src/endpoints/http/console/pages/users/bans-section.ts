/** Addresses that are banned, and the act that ends it; for operators alone. */
import { systemClock } from "../../../../../lib/clock.ts";
import type { ConsoleRequest } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { countText } from "../../kit/amounts.ts";
import { hiddenField } from "../../kit/fields.ts";
import { reasonForm } from "../../kit/forms.ts";
import { type Html, html } from "../../kit/html.ts";
import { addresses } from "../../kit/link.ts";
import { section } from "../../kit/section.ts";
import { code } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";

const said = words.users.bans;

/** More are a flood, which the firewall has to stop. */
const mostShown = 200;

export async function bansSection(services: ConsoleServices, { user }: ConsoleRequest): Promise<Html> {
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
      fields: html`${hiddenField("name", name)}${hiddenField("seenAt", seenAt)}`,
    }),
  ]);
  const { address, until, count, act } = said.head;
  const head = [address, until, { text: count, isNumber: true }, act];
  const list = table(head, rows, { caption: said.title, isCaptionHidden: true, empty: said.none });
  return section(said.title, html`<p>${said.explained}</p>${list}`, { id: "bans" });
}
