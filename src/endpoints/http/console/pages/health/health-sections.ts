/** The parts of the page of health that show what is; those in which something can be begun are beside it. */
import { countText, sizeText } from "../../kit/amounts.ts";
import { badge, type BadgeKind } from "../../kit/badge.ts";
import { hiddenField, submitButton } from "../../kit/fields.ts";
import { type Html, html } from "../../kit/html.ts";
import { notice, nothing, remedy } from "../../kit/notice.ts";
import { details, facts, section } from "../../kit/section.ts";
import { capitalised, prose, shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { durationText, timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import type { HealthFacts, ShownFinding } from "./health-view.ts";

const said = words.health;

export function readiness({ isReady, messages }: HealthFacts): Html {
  const list =
    messages.length === 0
      ? ""
      : html`<ul>${messages.map((message) => html`<li>${prose(message)}</li>`)}</ul>`;
  if (isReady) return notice(messages.length === 0 ? "ok" : "wait", html`<p>${said.ready}</p>${list}`);
  return notice("bad", html`<p>${said.notReady}</p>${list}`);
}

const findingKinds: Readonly<Record<ShownFinding["status"], BadgeKind>> = {
  ok: "ok",
  warning: "wait",
  problem: "bad",
};

/** A line of a check, with its remedy. */
export function findingItem({ status, what, remedy: toDo }: ShownFinding): Html {
  const shown = html`${badge(findingKinds[status], said.check.status[status])} ${prose(capitalised(what))}`;
  return html`<li>${shown}${toDo === undefined ? "" : remedy(toDo)}</li>`;
}

/** Problems first, and what is fine on demand. */
function findingsList(findings: readonly ShownFinding[]): Html {
  const of = (status: ShownFinding["status"]) => findings.filter((finding) => finding.status === status);
  const [problems, warnings, fine] = [of("problem"), of("warning"), of("ok")];
  const kind = problems.length > 0 ? "bad" : warnings.length > 0 ? "wait" : "ok";
  const told = notice(kind, html`<p>${said.check.found(problems.length, warnings.length)}</p>`);
  const open = [...problems, ...warnings];
  const list = open.length === 0 ? "" : html`<ul class="findings">${open.map(findingItem)}</ul>`;
  const rest = html`<ul class="findings">${fine.map(findingItem)}</ul>`;
  return html`${told}${list}${details(said.check.fine(fine.length), rest)}`;
}

export interface FormPlace {
  readonly action: string;
  readonly formToken: string;
}

export function checkSection({ check }: HealthFacts, { action, formToken }: FormPlace): Html {
  const { running, last, failure } = check;
  const now = html`<form method="post" action="${action}">${hiddenField("formToken", formToken)}<div class="buttons">${submitButton(said.check.now)}</div></form>`;
  const state =
    running === undefined
      ? now
      : notice(
          "wait",
          html`<p>${said.check.running} (${said.check.runningSince} ${timeText(running.since)})</p>`,
        );
  const failed =
    failure === undefined
      ? ""
      : notice("bad", html`<p>${said.check.failed} ${failure.message} (${timeText(failure.at)})</p>`);
  const result =
    last === undefined
      ? nothing(said.check.never)
      : html`<p>${said.check.at} ${timeText(last.at)}</p>${findingsList(last.result)}`;
  return section(said.check.title, html`<p>${prose(said.check.explained)}</p>${state}${failed}${result}`, {
    id: "check",
  });
}

export function selfChecksSection({ selfChecks }: HealthFacts): Html {
  const rows = Object.entries(selfChecks).map(([name, isFine]) => {
    const kind = isFine ? "ok" : "bad";
    return [name, badge(kind, isFine ? said.works : said.fails)] as const;
  });
  return section(said.selfChecks, facts(rows));
}

export function programSection({ version, startedAt, residentBytes, configuration }: HealthFacts): Html {
  const bad = configuration.isLastGood ? "" : notice("bad", html`<p>${said.badReload}</p>`);
  const rows = facts([
    [said.version, version],
    [said.running, timeText(startedAt)],
    [said.memory, sizeText(residentBytes)],
    [said.configuration, timeText(configuration.readAt)],
  ]);
  return section(said.program, html`${bad}${rows}`);
}

export function threadsSection({ threads }: HealthFacts): Html {
  const { parsers, waitingFiles, unfiledFiles, lateMs } = threads;
  return section(
    said.threads,
    facts([
      [said.parsers, countText(parsers)],
      [said.waiting, countText(waitingFiles)],
      [said.unfiled, countText(unfiledFiles)],
      [said.late, lateMs === undefined ? undefined : durationText(lateMs)],
    ]),
  );
}

function sizeOrUnknown(bytes: number | undefined): string {
  return bytes === undefined ? said.unknown : sizeText(bytes);
}

export function storeSection({ store, disk }: HealthFacts): Html {
  const room =
    disk === undefined
      ? said.unknown
      : html`${sizeText(disk.freeBytes)} <small>(${said.keeps(sizeText(disk.minFreeBytes))})</small>`;
  const rows = facts([
    [said.file, sizeOrUnknown(store.fileBytes)],
    [said.wal, sizeOrUnknown(store.walBytes)],
    [said.commits, countText(store.commits)],
    [said.damage, store.damage === undefined ? undefined : badge("bad", store.damage)],
    [said.free, room],
  ]);
  return section(said.store, rows, { id: "store" });
}

export function certificatesSection({ certificates }: HealthFacts): Html {
  if (certificates.length === 0) return section(said.certificates, nothing(said.noCertificates));
  const rows = certificates.map(
    ({ endpoint, expiresAt }) => [said.validUntil(endpoint.toUpperCase()), timeText(expiresAt)] as const,
  );
  return section(said.certificates, facts(rows));
}

export function troublesSection({ troubles }: HealthFacts): Html {
  const { title, explained, none, head } = said.troubles;
  const rows = troubles.map(({ level, message, count, lastAt, about }) => [
    shortened(message, 300),
    badge(level === "warn" ? "wait" : "bad", level === "warn" ? said.troubles.warning : level),
    countText(count),
    timeText(lastAt),
    shortened(about, 200),
  ]);
  const columns = [head.message, head.level, { text: head.count, isNumber: true }, head.last, head.about];
  const list = table(columns, rows, { caption: title, isCaptionHidden: true, empty: none });
  return section(title, html`<p>${explained}</p>${list}`, { id: "troubles" });
}
