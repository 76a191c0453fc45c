/** One user: what it may where, how it signs in, from where it was seen, and what was done about it. */
import { auditSubjectText } from "../../../../../domain/audit/audit-subject.ts";
import type { Answer } from "../../../server/answer.ts";
import { HttpRefusal } from "../../../server/http-refusal.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { checkField, hiddenField, textField } from "../../kit/fields.ts";
import { reasonForm } from "../../kit/forms.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { notice } from "../../kit/notice.ts";
import { page } from "../../kit/page.ts";
import { facts, section } from "../../kit/section.ts";
import { code, sentence, shortened, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { auditTable, kindText, refusedText, signInKinds, userChangeKinds } from "../audit/audit-table.ts";
import { refusedSection } from "./refused-section.ts";
import { administered, roleFields, stateBadge } from "./user-parts.ts";
import type { ShownMembership, UserDetail } from "./users-view.ts";

const said = words.users;
const shownHistory = 20;

/** What came of a form of this page that was not done. */
export interface UserFault {
  /** The act, as in the address of its form. */
  readonly act: string;
  /** Of the membership whose form it was. */
  readonly companyCode: string | undefined;
  /** Of the key whose form it was. */
  readonly fingerprint: string | undefined;
  readonly message: string;
  /** Whether it can be done all the same by agreeing to it. */
  readonly canAgree: boolean;
  readonly reason: string;
}

interface Forms {
  readonly user: UserDetail;
  readonly action: (act: string) => string;
  readonly formToken: string;
  readonly fault: UserFault | undefined;
}

interface ActForm {
  readonly act: string;
  readonly id?: string;
  readonly label: string;
  readonly explanation: Content;
  readonly fields?: Content;
  readonly companyCode?: string;
  readonly fingerprint?: string;
}

/** Whether the page has the form that the fault is told at: what it was about may be gone. */
function hasForm({ isEnabled, maySetSignIn, memberships, keys }: UserDetail, fault: UserFault): boolean {
  const { act, companyCode, fingerprint } = fault;
  if (act === "roles") return memberships.some((one) => one.companyCode === companyCode);
  if (!maySetSignIn || act === (isEnabled ? "enable" : "disable")) return false;
  return act !== "remove-key" || keys.some((one) => one.fingerprint === fingerprint);
}

function actForm({ action, formToken, fault }: Forms, form: ActForm): Html {
  const { act, id = act, label, explanation, fields, companyCode, fingerprint } = form;
  const isOwn = fault?.act === act && fault.companyCode === companyCode && fault.fingerprint === fingerprint;
  const own = isOwn ? fault : undefined;
  const agree = own?.canAgree === true ? checkField({ name: "agreed", label: said.agree.label }) : "";
  const company = companyCode === undefined ? "" : hiddenField("company", companyCode);
  return reasonForm({
    ...{ id, action: action(act), formToken, label, explanation },
    fields: html`${company}${fields}${agree}`,
    ...{ error: own?.message, reason: own?.reason ?? "" },
  });
}

function membershipPart(forms: Forms, { companyCode, roles }: ShownMembership): Html {
  const form = actForm(forms, {
    ...{ act: "roles", id: `roles-${companyCode}`, companyCode, label: said.roles.button },
    explanation: said.roles.explanation(companyCode),
    fields: html`${roleFields(roles)}<p><small>${said.noRoles}</small></p>${hiddenField("before", roles.join(" "))}`,
  });
  return html`<h3>${shortened(companyCode, 40)}</h3><p>${roles.join(", ")}</p>${form}`;
}

function signInForms(forms: Forms): Html {
  const { isEnabled, maySetSignIn } = forms.user;
  if (!maySetSignIn) return notice("off", html`<p>${said.facts.others}</p>`);
  const { button, explanation } = isEnabled ? said.disable : said.enable;
  const access = actForm(forms, { act: isEnabled ? "disable" : "enable", label: button, explanation });
  const password = actForm(forms, {
    ...{ act: "password", label: said.setPassword.button, explanation: said.setPassword.explanation },
    fields: checkField({ name: "mustChange", label: said.mustChangeLabel }),
  });
  return html`<div class="buttons">${password}${access}</div>`;
}

function stateSection(forms: Forms): Html {
  const { user } = forms;
  const { state, password, hasPassword, noPassword, created } = said.facts;
  const rows = facts([
    [state, stateBadge(user)],
    [password, user.hasPassword ? hasPassword : noPassword],
    [created, timeText(user.createdAt)],
  ]);
  return section(said.signInTitle, html`${rows}${signInForms(forms)}`);
}

function keysSection(forms: Forms): Html {
  const { keys, maySetSignIn } = forms.user;
  const rows = keys.map(({ keyType, fingerprint, comment }, index) => [
    code(fingerprint),
    code(keyType),
    shown(comment),
    maySetSignIn
      ? actForm(forms, {
          ...{ act: "remove-key", id: `remove-key-${index}`, label: said.removeKey.button },
          ...{ explanation: said.removeKey.explanation(fingerprint), fingerprint },
          fields: hiddenField("fingerprint", fingerprint),
        })
      : "",
  ]);
  const { fingerprint, type, comment, act } = said.keyHead;
  const options = { caption: said.keysTitle, isCaptionHidden: true, empty: said.noKeys };
  const add = actForm(forms, {
    ...{ act: "add-key", label: said.addKey.button, explanation: said.addKey.explanation },
    fields: textField({
      ...{ name: "publicKey", label: said.addKey.field, isRequired: true, maxLength: 10_000 },
      autocomplete: "off",
    }),
  });
  const list = table([fingerprint, type, comment, act], rows, options);
  return section(said.keysTitle, html`${list}${maySetSignIn ? add : ""}`, { id: "public-keys" });
}

function signInsSection({ seenFrom }: UserDetail): Html {
  const rows = seenFrom.map(({ address, lastAt }) => [code(address), timeText(lastAt)]);
  const { address, last } = said.signInHead;
  const options = { caption: said.signIns, isCaptionHidden: true, empty: said.noSignIns };
  return section(said.signIns, table([address, last], rows, options), { id: "sign-ins" });
}

/** When a session of the console began or ended, and from where. */
async function sessionsSection(
  services: ConsoleServices,
  request: ConsoleRequest,
  { userName, namesakesIn }: UserDetail,
): Promise<Html> {
  const subject = auditSubjectText({ kind: "user", name: userName });
  const asked = { subject, kinds: signInKinds, exceptOf: namesakesIn, limit: shownHistory };
  const { entries } = await services.ask("audit", administered(request.user), asked);
  // A user of several companies has an entry in each.
  const each = new Map(entries.map((entry) => [`${entry.at} ${entry.kind} ${entry.address}`, entry]));
  const rows = [...each.values()].map((entry) => [
    timeText(entry.at),
    kindText(entry.kind),
    entry.address === null ? words.kit.none : code(entry.address),
    refusedText(entry),
  ]);
  const { title, head, none } = said.sessions;
  const options = { caption: title, isCaptionHidden: true, empty: none };
  return section(title, table([head.time, head.what, head.address, head.refused], rows, options), {
    id: "sessions",
  });
}

async function historySection(
  services: ConsoleServices,
  request: ConsoleRequest,
  { userName, namesakesIn }: UserDetail,
  to: Addresses,
): Promise<Html> {
  const subject = auditSubjectText({ kind: "user", name: userName });
  const asked = { subject, kinds: userChangeKinds, exceptOf: namesakesIn, limit: shownHistory };
  const { entries } = await services.ask("audit", administered(request.user), asked);
  const tools = link(to.at("/audit", { subject }), said.toAudit);
  return section(said.history, auditTable(entries, to, said.noHistory), { id: "history", tools });
}

/** The page of the user; with what was wrong with a form that was sent. */
export async function userPage(
  services: ConsoleServices,
  request: ConsoleRequest,
  fault?: UserFault,
): Promise<Answer> {
  const to = addresses(services);
  const userId = Number(request.params["userId"]);
  const scope = administered(request.user);
  const user = Number.isSafeInteger(userId) ? await services.ask("userDetail", scope, { userId }) : undefined;
  if (user === undefined) throw new HttpRefusal("missing", said.notThere, { status: 404 });
  const action = (act: string) => to.at(`/users/${userId}/${act}`);
  const forms: Forms = { user, action, formToken: request.user.formToken, fault };
  const isTold = fault !== undefined && !hasForm(user, fault);
  const content = [
    isTold ? notice("bad", html`<p>${words.acts.notDone} ${sentence(fault.message)}</p>`) : undefined,
    stateSection(forms),
    section(
      said.memberships,
      user.memberships.map((membership) => membershipPart(forms, membership)),
    ),
    await refusedSection(services, request, user.userId),
    keysSection(forms),
    signInsSection(user),
    await sessionsSection(services, request, user),
    await historySection(services, request, user, to),
  ];
  return page(services, request, {
    ...{
      title: user.userName,
      here: "users",
      content: html`${content}`,
      trail: [],
    },
    status: fault === undefined ? 200 : 422,
  });
}

export const userRoute: ConsoleRoute = {
  access: "console",
  name: "consoleUser",
  method: "GET",
  path: "/console/users/{userId}",
  who: "administer",
  run: (services, request) => userPage(services, request),
};
