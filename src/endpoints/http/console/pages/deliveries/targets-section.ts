/** The targets with what waits for each, why, and what can be done. */
import { type ConsoleUser, companiesFor } from "../../console-user.ts";
import { countText } from "../../kit/amounts.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, link } from "../../kit/link.ts";
import { section } from "../../kit/section.ts";
import { shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { words } from "../../words/words.ts";
import type { ShownTarget } from "./deliveries-view.ts";
import { ageText, standingOf } from "./delivery-parts.ts";

const said = words.deliveries.targets;

function targetAddress(to: Addresses, { company, name }: ShownTarget, verb: string): string {
  return to.at(`/targets/${encodeURIComponent(company)}/${encodeURIComponent(name)}/${verb}`);
}

/** Its own charts: page 7 has those of the targets with most lag alone. */
function lagLink({ company, name }: ShownTarget, to: Addresses): Html {
  return link(`${to.at("/deliveries", { company, target: name })}#lag`, words.deliveries.lag.link);
}

function actsOf(target: ShownTarget, user: ConsoleUser, to: Addresses): Content {
  if (!companiesFor(user, "act").some(({ code }) => code === target.company)) return undefined;
  const acts =
    target.pause === undefined
      ? [...(target.open > 0 ? (["retry"] as const) : []), "pause" as const]
      : (["resume"] as const);
  return html`<p class="links">${acts.map((verb) => html`${link(targetAddress(to, target, verb), said[verb])} `)}</p>`;
}

/** A number that leads to the deliveries that it counts. */
function counted(count: number, target: ShownTarget, state: "open" | "dead", to: Addresses): Content {
  if (count === 0) return "0";
  const { company, name } = target;
  return link(to.at("/deliveries", { company, target: name, state }), countText(count));
}

export function targetsSection(targets: readonly ShownTarget[], user: ConsoleUser, to: Addresses): Html {
  const isOfMany = companiesFor(user, "look").length > 1;
  const { columns, caption, empty } = said;
  const rows = targets.map((target) => [
    html`${shortened(target.name, 60)}${isOfMany && html` <span class="company">${target.company}</span>`}`,
    standingOf(target),
    counted(target.open, target, "open", to),
    html`${ageText(target.oldestAt)} ${lagLink(target, to)}`,
    said.lately(target.lately.made, target.lately.open),
    counted(target.dead, target, "dead", to),
    actsOf(target, user, to),
  ]);
  const head = [
    ...[columns.target, columns.standing],
    { text: columns.open, isNumber: true },
    ...[columns.oldest, columns.lately],
    { text: columns.dead, isNumber: true },
    columns.acts,
  ];
  const shown = table(head, rows, { caption, empty, id: "targets", isCaptionHidden: true });
  return section(said.title, shown, { id: "standing" });
}
