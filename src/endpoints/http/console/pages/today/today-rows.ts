/** Rows of page 1 that change while it is looked at: the page and the live events have them from here. */
import { moveAfterRefusal } from "../../../../../domain/outbound/whose-move.ts";
import type { ErrorCode } from "../../../../../lib/errors.ts";
import { badge } from "../../kit/badge.ts";
import { countText } from "../../kit/amounts.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, link } from "../../kit/link.ts";
import { code, shortened } from "../../kit/shown-text.ts";
import { durationText, timeText } from "../../kit/times.ts";
import {
  type CompanyStanding,
  type Refusal,
  type RefusalGroup,
  refusalKeyOf,
  refusalKeyText,
} from "../../live/standing.ts";
import { words } from "../../words/words.ts";
import { usualText } from "./as-usual.ts";
import { concernsOf, listsOf } from "./concerns.ts";

const today = words.today;

export const companyHead = [
  today.company,
  today.state,
  ...[today.waiting, today.applied, today.refused, today.late, today.deadLetters, today.uncollected].map(
    (text) => ({ text, isNumber: true }),
  ),
] as const;

function cell(label: string, content: Content, remark?: Content): Html {
  const beside = remark === undefined ? "" : html`<br><small>${remark}</small>`;
  return html`<td class="number" data-label="${label}">${content}${beside}</td>`;
}

/** A count that leads to its list, unless there is nothing in it. */
function counting(count: number, href: string): Content {
  return count === 0 ? countText(0) : link(href, countText(count));
}

/** Files of today, and beside them those of the same weekday before. */
function dayCell(standing: CompanyStanding, state: "applied" | "refused", to: Addresses): Html {
  const { companyCode, days, weekBefore, weekBeforeByNow } = standing;
  const { ofDay } = listsOf(to, companyCode);
  const count = standing.today[state];
  const compared =
    weekBeforeByNow === undefined
      ? undefined
      : html`<strong>${usualText(count, weekBeforeByNow[state])}</strong>, ${today.byNow(countText(weekBeforeByNow[state]))}<br>`;
  return cell(
    today[state],
    counting(count, ofDay(state, days.today)),
    html`${compared}${counting(weekBefore[state], ofDay(state, days.weekBefore))} ${today.weekBefore}`,
  );
}

/** How a company stands. The id of the row names the company. */
export function companyRow(standing: CompanyStanding, to: Addresses): Html {
  const { companyId, companyCode, waiting, oldestAgeMs, late, deadLetters } = standing;
  const lists = listsOf(to, companyCode);
  const isWell = concernsOf(standing, to).length === 0;
  const { uncollected } = standing;
  return html`<tr id="company-${companyId}"><th scope="row">${link(to.at("/files", { company: companyCode }), shortened(companyCode, 40))}</th><td data-label="${today.state}">${badge(
    isWell ? "ok" : "wait",
    isWell ? today.well : today.needsLook,
  )}</td>${[
    cell(
      today.waiting,
      counting(waiting, lists.waiting),
      oldestAgeMs === 0 ? undefined : today.oldest(durationText(oldestAgeMs)),
    ),
    dayCell(standing, "applied", to),
    dayCell(standing, "refused", to),
    cell(today.late, counting(late.length, lists.late)),
    cell(today.deadLetters, counting(deadLetters, lists.dead)),
    cell(
      today.uncollected,
      uncollected === undefined
        ? html`<small>${today.notWatched}</small>`
        : counting(uncollected, lists.uncollected),
    ),
  ]}</tr>`;
}

function moveNote(refused: ErrorCode): Html {
  return html`<br><small>${words.move.short[moveAfterRefusal(refused)]}</small>`;
}

/** A file that was refused. The id of the row names its entry, so that none is there twice. */
export function refusalRow(refusal: Refusal, to: Addresses): Html {
  const { reference, companyCode, name, reasonCode, message, at } = refusal;
  const head = today.refusalHead;
  const group = refusalKeyText(refusalKeyOf(refusal));
  return html`<tr id="refusal-${reference}" data-group="${group}"><th scope="row">${link(to.file(reference), shortened(name, 80))}</th><td data-label="${head.company}">${shortened(companyCode, 40)}</td><td data-label="${head.time}">${timeText(at)}</td><td data-label="${head.reason}">${code(String(reasonCode))} ${shortened(message, 300)}${moveNote(refusal.code)}</td></tr>`;
}

/**
 * Many files that were refused for one reason on one day, with the list of just these, and the way to try them all again. In a
 * list that is looked at, the row takes the place of theirs.
 */
export function refusalGroupRow(
  group: RefusalGroup,
  { to, mayAct }: { readonly to: Addresses; readonly mayAct: boolean },
): Html {
  const { companyCode: company, reasonCode, day, count, isMore, firstAt, lastAt, message } = group;
  const head = today.refusalHead;
  const these = { company, reason: reasonCode, from: day, to: day };
  const key = refusalKeyText(group);
  const retry = mayAct ? html`<br>${link(to.at("/files/retry", these), today.retryThese)}` : "";
  const counted = (isMore ? today.refusedMore : today.refusedMany)(countText(count));
  return html`<tr id="refusals-${key}" data-group="${key}" data-many><th scope="row">${link(to.at("/files", these), counted)}${retry}</th><td data-label="${head.company}">${shortened(company, 40)}</td><td data-label="${head.time}">${timeText(firstAt)} – ${timeText(lastAt)}</td><td data-label="${head.reason}">${code(String(reasonCode))} ${today.newestSays} ${shortened(message, 300)}${moveNote(group.code)}</td></tr>`;
}
