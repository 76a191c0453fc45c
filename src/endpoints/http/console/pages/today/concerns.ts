/** What of a standing needs a look, in one sentence each, with the list that it leads to. */
import type { Move } from "../../../../../domain/outbound/whose-move.ts";
import { dayMs, minuteMs } from "../../../../../lib/durations.ts";
import { type Html, html } from "../../kit/html.ts";
import { type Addresses, link } from "../../kit/link.ts";
import { notice } from "../../kit/notice.ts";
import { durationText } from "../../kit/times.ts";
import type { CompanyStanding, SiteStanding } from "../../live/standing.ts";
import { words } from "../../words/words.ts";

/** A file is decided within a second; one that waits so long waits for something. */
const longAgeMs = 5 * minuteMs;
const soonDays = 14;

const today = words.today;

/** The lists to which the numbers of a company lead: each has just what its number counts. */
export function listsOf(to: Addresses, company: string) {
  return {
    waiting: to.at("/waiting", { company }),
    ofDay: (state: "applied" | "refused", day: string) =>
      to.at("/files", { company, state, from: day, to: day }),
    late: to.at("/late", { company }),
    dead: to.at("/deliveries", { company, state: "dead" }),
    target: (target: string) => to.at("/deliveries", { company, target }),
    remote: () => to.at("/remotes"),
    uncollected: to.at("/deliveries", { company, fetched: "late" }),
  };
}

/** In brackets behind a concern; nothing where it is not known. */
function moveNote(move: Move | undefined): Html {
  return move === undefined ? html`` : html` (${words.move.short[move]})`;
}

/** Files that are fetched from a failing remote are late because of that; all others their host has not sent. */
export function moveOfLate(channel: string | undefined, failing: CompanyStanding["failing"]): Move {
  const isBy = (name: string) => channel === "remote" || channel === `remote:${name}`;
  const remote = failing.find(({ kind, name }) => kind === "remote" && isBy(name));
  return remote === undefined ? "host" : (remote.move ?? "partner");
}

/** Of one company; empty when all is well with it. */
export function concernsOf(standing: CompanyStanding, to: Addresses): readonly Html[] {
  const {
    companyCode: code,
    halt,
    oldestAgeMs,
    late,
    deadLetters,
    failing,
    uncollected = 0,
    incidents,
  } = standing;
  const lists = listsOf(to, code);
  const concerns: Html[] = [];
  if (halt !== undefined) concerns.push(link(lists.waiting, today.isHalted(code, halt)));
  else if (oldestAgeMs >= longAgeMs)
    concerns.push(link(lists.waiting, today.isOld(code, durationText(oldestAgeMs))));
  for (const { name, files } of late)
    concerns.push(
      html`${link(lists.late, today.isLate(code, name))}${moveNote(moveOfLate(files.channel, failing))}`,
    );
  for (const { kind, name, failures, move } of failing)
    concerns.push(html`${link(lists[kind](name), today.fails[kind](code, name, failures))}${moveNote(move)}`);
  if (deadLetters > 0) concerns.push(link(lists.dead, today.hasDead(code, deadLetters)));
  if (uncollected > 0) concerns.push(link(lists.uncollected, today.hasUncollected(code, uncollected)));
  if (incidents.length > 0)
    concerns.push(html`<a href="#incidents">${today.hasIncidents(code, incidents.length)}</a>`);
  return concerns;
}

/** Of what belongs to all companies. */
export function concernsOfSite(site: SiteStanding, now: number, to: Addresses): readonly Html[] {
  const { disk, filling, certificates, troubles, incidents } = site;
  const health = to.at("/health");
  const concerns: Html[] = [];
  if (disk !== undefined && disk.freeBytes < disk.minFreeBytes) concerns.push(link(health, today.lacksRoom));
  for (const { folder, isSoon, fullInDays } of filling ?? [])
    if (isSoon && fullInDays !== undefined)
      concerns.push(link(`${to.at("/health")}#growth`, today.fills(folder, fullInDays)));
  for (const { endpoint, expiresAt } of certificates) {
    const days = Math.floor((expiresAt - now) / dayMs);
    if (days < 0) concerns.push(link(health, today.expired(endpoint)));
    else if (days < soonDays) concerns.push(link(health, today.expires(endpoint, days)));
  }
  for (const trouble of troubles) concerns.push(link(health, trouble));
  if (incidents.length > 0)
    concerns.push(html`<a href="#incidents">${today.machineHasIncidents(incidents.length)}</a>`);
  return concerns;
}

/** One sentence when all is well, else what is not. */
export function verdict(companies: number, concerns: readonly Html[]): Html {
  const told =
    concerns.length === 0
      ? notice("ok", html`<p>${today.allIsWell(companies)}</p>`)
      : notice(
          "wait",
          html`<p>${today.needLook(concerns.length)}</p><ul>${concerns.map((one) => html`<li>${one}</li>`)}</ul>`,
        );
  return html`<div id="verdict">${told}</div>`;
}
