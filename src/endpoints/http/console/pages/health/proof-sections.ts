/** What proves that nothing is lost: the backup, and the verification of the ledger. */
import { reasonForm } from "../../kit/forms.ts";
import { type Html, html } from "../../kit/html.ts";
import { notice, nothing, remedy } from "../../kit/notice.ts";
import { facts, section } from "../../kit/section.ts";
import { prose, shortened } from "../../kit/shown-text.ts";
import { durationText, timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import type { FormPlace } from "./health-sections.ts";
import type { HealthFacts, ShownVerification } from "./health-view.ts";

const said = words.health;

/** `now` in milliseconds UTC: the age of a backup says more than its time. */
export function backupSection({ backup }: HealthFacts, now: number): Html {
  const { isScheduled, lastAt, failure, runningSince } = backup;
  const last =
    lastAt === undefined
      ? said.backup.never
      : html`${timeText(lastAt)} (${said.backup.age(durationText(Math.max(0, now - lastAt)))})`;
  const content = [
    failure === undefined ? "" : notice("bad", html`<p>${said.backup.failing} ${failure}</p>`),
    isScheduled ? "" : notice("wait", html`<p>${prose(said.backup.notScheduled)}</p>`),
    facts([
      [said.backup.last, last],
      [said.backup.runs, runningSince === undefined ? undefined : timeText(runningSince)],
    ]),
  ];
  return section(said.backup.title, content, { id: "backup" });
}

function foundBy({ discrepancyCount, discrepancies, unproved }: ShownVerification): Html {
  const { right, wrong, notProved } = said.verification;
  const open = unproved.map((what) => html`<p>${notProved} ${what}</p>`);
  if (discrepancyCount === 0) return notice("ok", html`<p>${right}</p>${open}`);
  const list = discrepancies.map(
    ({ kind, location, message, name }) =>
      html`<li><strong>${kind}</strong> ${name === undefined ? "" : shortened(name)} ${shortened(location)}: ${message}</li>`,
  );
  return html`${notice("bad", html`<p>${wrong(discrepancyCount)}</p>${open}`)}<ul class="findings">${list}</ul>${remedy(said.verification.remedy)}`;
}

/** By this console, with its list, or by whoever was last, with the number alone. */
function lastVerification({ verification: { last }, lastVerified }: HealthFacts): Html {
  const { right, wrong, never, last: lastEnded } = said.verification;
  if (lastVerified === undefined) return nothing(never);
  const when = html`<p>${lastEnded} ${timeText(lastVerified.at)}</p>`;
  if (last !== undefined && last.at >= lastVerified.at) return html`${when}${foundBy(last.result)}`;
  const { discrepancies } = lastVerified;
  const told =
    discrepancies === 0
      ? notice("ok", html`<p>${right}</p>`)
      : html`${notice("bad", html`<p>${wrong(discrepancies)}</p>`)}${remedy(said.verification.remedy)}`;
  return html`${when}${told}`;
}

export function verificationSection(
  all: HealthFacts,
  { action, formToken }: FormPlace,
  error?: string,
): Html {
  const { running, failure } = all.verification;
  const { title, explained, now, confirm, begins, running: progressText, failed } = said.verification;
  const progress = running?.progress;
  const state =
    running === undefined
      ? reasonForm({ id: "verify", action, formToken, label: now, explanation: confirm, error })
      : notice(
          "wait",
          html`<p>${progress === undefined ? begins : progressText(progress.entries, progress.total)}</p>`,
        );
  const told =
    failure === undefined
      ? ""
      : notice("bad", html`<p>${failed} ${failure.message} (${timeText(failure.at)})</p>`);
  return section(title, html`<p>${explained}</p>${lastVerification(all)}${told}${state}`, {
    id: "verification",
  });
}
