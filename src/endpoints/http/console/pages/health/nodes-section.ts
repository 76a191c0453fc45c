/** The part of the page of health that shows the nodes, and who has which company; nothing where one daemon is alone. */
import { badge, type BadgeKind } from "../../kit/badge.ts";
import { countText } from "../../kit/amounts.ts";
import { type Html, html } from "../../kit/html.ts";
import { notice } from "../../kit/notice.ts";
import { details, section } from "../../kit/section.ts";
import { shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import type { HealthFacts, ShownNode } from "./health-view.ts";

const said = words.health.nodes;
const kinds: Readonly<Record<ShownNode["state"], BadgeKind>> = {
  working: "ok",
  draining: "wait",
  silent: "bad",
  stopped: "off",
};
/** More stand behind a click. */
const shownCompanies = 20;

function companiesOf({ companies }: ShownNode): Html | string {
  if (companies.length === 0) return said.none;
  const list = (codes: readonly string[]) => codes.join(", ");
  const count = html`${countText(companies.length)}: `;
  const rest = companies.slice(shownCompanies);
  const first = html`${count}${list(companies.slice(0, shownCompanies))}`;
  return rest.length === 0 ? first : html`${first}${details(said.more(rest.length), html`${list(rest)}`)}`;
}

function rowOf(node: ShownNode) {
  const { name, isThis, state, version, address, startedAt, seenAt } = node;
  const listens = Object.entries(address).map(([protocol, at]) => `${protocol} ${at}`);
  return [
    isThis ? html`${shortened(name, 60)} <small>(${said.isThis})</small>` : shortened(name, 60),
    badge(kinds[state], said.state[state]),
    companiesOf(node),
    version,
    shortened(listens.join(", "), 200),
    timeText(startedAt),
    timeText(seenAt),
  ];
}

export function nodesSection({ nodes }: HealthFacts): Html | "" {
  if (nodes === undefined) return "";
  const { name, state, companies, version, address, started, seen } = said.head;
  const others = nodes.filter((node) => node.hasOtherSettings).map((node) => node.name);
  const told =
    others.length === 0 ? "" : notice("wait", html`<p>${said.otherSettings(others.join(", "))}</p>`);
  const columns = [name, state, companies, version, address, started, seen];
  const list = table(columns, nodes.map(rowOf), {
    caption: said.title,
    isCaptionHidden: true,
    empty: said.none,
  });
  return section(said.title, html`<p>${said.explained}</p>${told}${list}`, { id: "nodes" });
}
