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

/** Whether a target takes nothing at this moment. */
type TargetRest = Pick<ShownTarget, "pause" | "restsUntil">;

/** What waits for its target does not go out when it is due, but when the target is tried again. */
function waitingText({ target, dueAt, faultText }: ShownDelivery, standing: TargetRest | undefined): Content {
  if (standing?.pause !== undefined) return html`<p>${said.waitsForPaused(target)}</p>`;
  const now = Date.now();
  const restsUntil = standing?.restsUntil ?? 0;
  if (restsUntil > Math.max(now, dueAt))
    return html`<p>${said.waitsForTarget(target)} ${timeText(restsUntil)}.</p>`;
  if (faultText === null) return undefined;
  return dueAt > now ? html`<p>${said.targets.until} ${timeText(dueAt)}.</p>` : html`<p>${said.isDue}</p>`;
}

function nextStep(delivery: ShownDelivery, standing: TargetRest | undefined): Content {
  const { state, isTargetConfigured } = delivery;
  if (state === "dead") return remedy(said.deadNext);
  if (state === "behind") return html`<p>${said.waitsBehind}</p>`;
  if (state !== "waiting") return undefined;
  if (!isTargetConfigured) return remedy(said.notConfigured);
  return waitingText(delivery, standing);
}

/** Why it has not been delivered, and what to do; with how its target stands. */
export function whyOf(delivery: ShownDelivery, standing: TargetRest | undefined): Content {
  const { faultText, state } = delivery;
  const text =
    faultText === null || state === "delivered" ? undefined : html`<p>${shortened(faultText, 200)}</p>`;
  return [text, nextStep(delivery, standing)];
}

/** How a target stands, in a word. */
export function standingBadge({ isConfigured, pause, restsUntil }: ShownTarget): Html {
  const { targets } = said;
  if (pause !== undefined) return badge("off", targets.paused);
  if (!isConfigured) return badge("bad", targets.notConfigured);
  return restsUntil === null ? badge("ok", targets.fine) : badge("bad", targets.rests);
}

/** How a target stands, why, and what to do. */
export function standingOf(target: ShownTarget): Content {
  return [standingBadge(target), aboutStanding(target)];
}

/** Why a target stands as it does, and what to do. */
export function aboutStanding({ pause, isConfigured, restsUntil, failures, fault }: ShownTarget): Content {
  const { targets } = said;
  const lines: Content[] = [];
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
