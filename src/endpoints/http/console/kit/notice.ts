/** What a page says to the viewer, and what they can do about it. */
import type { Move } from "../../../../domain/outbound/whose-move.ts";
import { words } from "../words/words.ts";
import { type Content, type Html, html } from "./html.ts";
import type { BadgeKind } from "./badge.ts";
import { capitalised, prose } from "./shown-text.ts";

/** A message in its own frame. `bad` is told at once by screen readers, all others when they have time. */
export function notice(kind: BadgeKind, content: Content): Html {
  const role = kind === "bad" ? "alert" : "status";
  return html`<div class="notice ${kind}" role="${role}">${content}</div>`;
}

/** What to do about a fault. */
export function remedy(content: Content): Html {
  const told = typeof content === "string" ? prose(capitalised(content)) : content;
  return html`<p class="remedy"><strong>${words.kit.remedy}</strong> ${told}</p>`;
}

/** Whose move it is after a fault. */
export function whoseMove(move: Move): Html {
  return html`<p class="move"><strong>${words.move.title}</strong> ${words.move.moves[move]}.</p>`;
}

/** What stands where a list would, when nothing is in it: what that means, and perhaps where to go. */
export function nothing(content: Content): Html {
  return html`<p class="nothing">${content}</p>`;
}
