/** What several pages of deliveries show of one. */
import { badge } from "../../kit/badge.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, link } from "../../kit/link.ts";
import { remedy, whoseMove } from "../../kit/notice.ts";
import { shortened } from "../../kit/shown-text.ts";
import { durationText, timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { deliveryBadge } from "../state-badges.ts";
import type { ShownDelivery, ShownTarget } from "./deliveries-view.ts";

const said = words.deliveries;

export function stateOf({ state, isGivenUp }: Pick<ShownDelivery, "state" | "isGivenUp">): Html {
  return isGivenUp ? badge("off", said.givenUp) : deliveryBadge(state);
}

/** What it is about: its stop, or its export. */
export function subjectOf({ kind, orderKey, company }: ShownDelivery, to: Addresses): Content {
  if (kind === "export") return said.exportNamed(orderKey);
  return kind === "alert" ? undefined : link(to.stop(company, orderKey), said.stop(orderKey));
}

function nextStep(delivery: ShownDelivery): Content {
  const { state, isTargetConfigured, faultText, dueAt } = delivery;
  if (state === "dead") return remedy(said.deadNext);
  if (state === "behind") return html`<p>${said.waitsBehind}</p>`;
  if (state !== "waiting") return undefined;
  if (!isTargetConfigured) return remedy(said.notConfigured);
  return faultText === null ? undefined : html`<p>${said.targets.until} ${timeText(dueAt)}.</p>`;
}

/** Why it has not been delivered, and what to do. */
export function whyOf(delivery: ShownDelivery): Content {
  const { faultText, state } = delivery;
  const text =
    faultText === null || state === "delivered" ? undefined : html`<p>${shortened(faultText, 200)}</p>`;
  return [text, nextStep(delivery)];
}

function standingBadge({ isConfigured, pause, restsUntil }: ShownTarget): Html {
  const { targets } = said;
  if (pause !== undefined) return badge("off", targets.paused);
  if (!isConfigured) return badge("bad", targets.notConfigured);
  return restsUntil === null ? badge("ok", targets.fine) : badge("bad", targets.rests);
}

/** How a target stands, why, and what to do. */
export function standingOf(target: ShownTarget): Content {
  const { pause, isConfigured, restsUntil, failures, fault } = target;
  const { targets } = said;
  const lines: Content[] = [standingBadge(target)];
  if (pause !== undefined)
    lines.push(
      html`<p>${targets.pausedBy(pause.by)}, ${timeText(pause.at)}: ${shortened(pause.reason, 200)}</p>`,
      remedy(targets.resumeRemedy),
    );
  else if (!isConfigured) lines.push(remedy(targets.notConfiguredRemedy));
  else if (restsUntil !== null)
    lines.push(html`<p>${targets.failed(failures)} ${targets.until} ${timeText(restsUntil)}.</p>`);
  if (fault !== undefined) {
    lines.push(html`<p>${shortened(fault.text, 300)}</p>`);
    if (fault.move !== undefined) lines.push(whoseMove(fault.move));
    if (fault.remedy !== undefined) lines.push(remedy(fault.remedy));
  }
  return lines;
}

/** For how long something has waited at this moment. */
export function ageText(since: number | null): string {
  return since === null ? words.kit.none : durationText(Math.max(0, Date.now() - since));
}
