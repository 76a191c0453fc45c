/** Entries of the audit as a table: on its own page, and on that of what they are about. */
import { type AuditSubject, readAuditSubject } from "../../../../../domain/audit/audit-subject.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, link } from "../../kit/link.ts";
import { code, sentence, shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { type Difference, differenceOf } from "./audit-difference.ts";
import type { ShownAudit } from "./audit-view.ts";

const said = words.audit;
/** Longer ones are whole in the CSV. */
const mostDifferences = 20;
/** Its values are settings, by their paths. */
const configReload = "config.reload";

/** Begins and ends of sessions. */
export const signInKinds: readonly string[] = ["signedIn", "signedOut", "signedOutEverywhere"];

/** What changes a user. */
export const userChangeKinds: readonly string[] = [
  "user.add",
  "user.roles",
  "user.enable",
  "user.disable",
  "user.password",
  "user.addKey",
  "user.removeKey",
  "passwordChanged",
];

/** Kinds of entries, as they stand in the store. */
export const auditKinds: readonly string[] = [
  ...[
    "file.retry",
    "content.seen",
    "delivery.retry",
    "delivery.resend",
    "delivery.giveUp",
    "deliveries.release",
  ],
  ...["target.retry", "target.pause", "target.resume", "remote.pause", "remote.resume", "remote.poll"],
  ...["export.again", "ban.lift", "ledger.verify", configReload, "company.add"],
  ...userChangeKinds,
  ...signInKinds,
];

/** What was done, in words; the bare kind where there are none. */
export function kindText(kind: string): string {
  const key = kind.replace(/\.(\w)/, (_, letter: string) => letter.toUpperCase());
  return Object.entries(said.kinds).find(([name]) => name === key)?.[1] ?? kind;
}

function addressOf(subject: AuditSubject, company: string | undefined, to: Addresses): string | undefined {
  switch (subject.kind) {
    case "file":
      return to.file(subject.reference);
    case "delivery":
      return to.delivery(subject.guid);
    case "user":
      return to.at("/users", { name: subject.name, company });
    case "company":
      return to.at("/users", { company: subject.name });
    case "target":
    case "export":
    case "heldDeliveries":
      return to.at("/deliveries", { company });
    case "remote":
      return to.at("/remotes", { company });
    case "address":
      return `${to.at("/users")}#bans`;
  }
}

/** What names it in an address, and says nothing to people. */
function referenceOf(subject: AuditSubject | undefined): string | undefined {
  if (subject?.kind === "file") return subject.reference;
  return subject?.kind === "delivery" ? subject.guid : undefined;
}

function subjectText({ subject, companyCode }: ShownAudit, to: Addresses): Content {
  if (subject === null) return words.kit.none;
  const read = readAuditSubject(subject);
  const href = read === undefined ? undefined : addressOf(read, companyCode, to);
  if (href === undefined) return shortened(subject, 80);
  const reference = referenceOf(read);
  if (reference === undefined) return link(href, shortened(subject, 80));
  const name = subject.slice(0, subject.length - reference.length - 1);
  return html`${link(href, shortened(name, 80))} <small>${code(reference)}</small>`;
}

const valueWords: Readonly<Record<string, string>> = { true: said.yes, false: said.no };

/** States by the words of their own pages. */
function stateText(kind: string, state: string): string {
  const states = kind.startsWith("file.") ? words.files.states : words.states.delivery;
  return Object.entries(states).find(([name]) => name === state)?.[1] ?? state;
}

/** A value that an act has changed, in words; settings of the configuration are told as they stand there. */
function valueText(text: string, path: string, kind: string): Content {
  if (kind === configReload) return shortened(text, 200);
  if (/(At|Until)$/.test(path)) return sentence(text);
  return shortened(path === "state" ? stateText(kind, text) : (valueWords[text] ?? text), 200);
}

function nameText(path: string, kind: string): Html {
  const known = Object.entries(said.fields).find(([name]) => name === path)?.[1];
  return known === undefined || kind === configReload ? code(path) : html`${known}`;
}

/** What was not there before is told by how it is now alone. */
function differenceItem({ path, before, after }: Difference, kind: string): Html {
  const value = (text: string | undefined) =>
    text === undefined ? html`<em>${said.unset}</em>` : valueText(text, path, kind);
  const name = path === "" ? "" : html`${nameText(path, kind)}: `;
  const was =
    before === undefined && kind !== configReload
      ? ""
      : html`<del><span class="unseen">${said.before} </span>${value(before)}</del> → `;
  return html`<li>${name}${was}<ins><span class="unseen">${said.after} </span>${value(after)}</ins></li>`;
}

/** Of a sign-in: how often one was refused before; undefined for all else. */
export function refusedText({ kind, after }: ShownAudit): Content {
  if (kind !== "signedIn" || typeof after !== "object" || after === null) return undefined;
  const count = "refusedBefore" in after ? after.refusedBefore : undefined;
  return typeof count === "number" ? said.refusedBefore(count) : undefined;
}

function changeText(entry: ShownAudit): Content {
  const refused = refusedText(entry);
  if (refused !== undefined) return refused;
  const { before, after } = entry;
  const differences = differenceOf(before, after);
  if (differences.length === 0) return words.kit.none;
  return html`<ul class="plain">${differences.slice(0, mostDifferences).map((one) => differenceItem(one, entry.kind))}</ul>`;
}

function whoText({ userName, address }: ShownAudit): Html {
  const who = userName === null ? said.byProgram : shortened(userName, 60);
  return html`${who}${address === null ? "" : html`<br><small>${said.from(address)}</small>`}`;
}

export function auditTable(entries: readonly ShownAudit[], to: Addresses, empty: string): Html {
  const rows = entries.map((entry) => [
    timeText(entry.at),
    whoText(entry),
    html`${kindText(entry.kind)}${entry.companyCode === undefined ? "" : html`<br><small>${shortened(entry.companyCode, 40)}</small>`}`,
    subjectText(entry, to),
    entry.reason === null ? words.kit.none : shortened(entry.reason, 500),
    changeText(entry),
  ]);
  const { time, who, what, about, reason, change } = said.head;
  const options = { caption: said.title, isCaptionHidden: true, empty };
  return table([time, who, what, about, reason, change], rows, options);
}
