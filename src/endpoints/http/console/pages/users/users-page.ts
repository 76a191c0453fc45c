/** Page 10: the users of the companies that the viewer administers, and the bans; of all companies for operators. */
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { checkField, selectField, textField } from "../../kit/fields.ts";
import { filterForm, reasonForm } from "../../kit/forms.ts";
import { type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { page } from "../../kit/page.ts";
import { pager } from "../../kit/pager.ts";
import { section } from "../../kit/section.ts";
import { shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { bansSection, type SentBan } from "./bans-section.ts";
import { companiesSection, type SentCompany } from "./companies-section.ts";
import { administered, roleFields, rolesText, signsInWith, stateBadge } from "./user-parts.ts";
import type { UserPlace, UsersFound } from "./users-view.ts";

const said = words.users;
const pageSize = 50;
const longestName = 100;

function usersTable({ users }: UsersFound, to: Addresses): Html {
  const rows = users.map((user) => [
    link(to.at(`/users/${user.userId}`), shortened(user.userName, 60)),
    stateBadge(user),
    rolesText(user),
    signsInWith(user),
    user.lastSeenAt === undefined ? said.never : timeText(user.lastSeenAt),
  ]);
  const { user, state, companies, signIn, last } = said.head;
  const options = { caption: said.users, isCaptionHidden: true, empty: said.none };
  return table([user, state, companies, signIn, last], rows, options);
}

interface Filter {
  readonly name: string | undefined;
  readonly company: string | undefined;
  readonly behind: UserPlace | undefined;
}

function filterOf({ query }: ConsoleRequest): Filter {
  const name = query.get("name")?.trim().slice(0, longestName) || undefined;
  const company = query.get("company") || undefined;
  const [id, userName] = [Number(query.get("id")), query.get("behind")];
  const behind = userName !== null && Number.isSafeInteger(id) ? { userName, id } : undefined;
  return { name, company, behind };
}

function filterFields({ companies }: UsersFound, { name, company }: Filter): Html {
  const codes = companies.map(({ code }) => [code, code] as const);
  return html`${textField({
    ...{ name: "name", type: "search", label: said.name, value: name, maxLength: longestName },
  })}${selectField({
    ...{ name: "company", label: said.company, value: company },
    options: [["", said.allCompanies], ...codes],
  })}`;
}

/** What was wrong with the form that was sent, and what it had. */
export interface AddFault {
  readonly message: string;
  readonly form: URLSearchParams;
}

/** A form of the page that was sent and came to nothing. */
export interface SentOfUsers {
  readonly add?: AddFault;
  readonly company?: SentCompany;
  readonly ban?: SentBan;
}

/** 409 when the form was right, and something has changed meanwhile. */
function statusOf({ add, company, ban }: SentOfUsers): number {
  if (add !== undefined || company !== undefined || ban?.fault !== undefined) return 422;
  return ban === undefined ? 200 : 409;
}

/** A company that the list is filtered by is chosen already. */
function addFields({ companies }: UsersFound, form: URLSearchParams, shown: string | undefined): Html {
  return html`${selectField({
    ...{ name: "company", id: "add-company", label: said.company, value: form.get("company") ?? shown },
    options: companies.map(({ code }) => [code, code] as const),
  })}${textField({
    ...{ name: "userName", label: said.add.userName, value: form.get("userName") ?? "" },
    ...{ isRequired: true, maxLength: longestName, autocomplete: "off" },
  })}${roleFields(form.getAll("role"))}${textField({
    ...{ name: "publicKey", label: said.add.publicKey, value: form.get("publicKey") ?? "" },
    ...{ maxLength: 10_000, autocomplete: "off" },
  })}${checkField({
    ...{ name: "mustChange", label: said.mustChangeLabel, isChecked: form.get("mustChange") === "yes" },
  })}`;
}

/** The page; with the fault of a form that was sent, the form is open and says it. */
export async function usersPage(
  services: ConsoleServices,
  request: ConsoleRequest,
  sent: SentOfUsers = {},
): Promise<Answer> {
  const { user } = request;
  const { add: fault, ban } = sent;
  const to = addresses(services);
  const filter = filterOf(request);
  const { name, company, behind } = filter;
  const asked = { name, companyCode: company, behind, limit: pageSize };
  const found = await services.ask("users", administered(user), asked);
  const { next } = found;
  const pages = pager({
    first: behind && to.at("/users", { name, company }),
    next: next && to.at("/users", { name, company, behind: next.userName, id: next.id }),
  });
  const add = reasonForm({
    ...{ id: "add-user", action: to.at("/users/add"), formToken: user.formToken },
    ...{ opener: said.add.opener, label: said.add.button, explanation: said.add.explanation },
    fields: addFields(found, fault?.form ?? new URLSearchParams(), company),
    ...{ error: fault?.message, reason: fault?.form.get("reason") ?? "" },
  });
  const content = html`${filterForm({
    ...{ action: to.at("/users"), fields: filterFields(found, filter) },
    isFiltered: name !== undefined || company !== undefined,
  })}${section(said.users, html`${usersTable(found, to)}${pages}<p><small>${said.lastSeenNote}</small></p>${add}`)}${companiesSection(request, to, { found, sent: sent.company })}${
    user.isOperator ? await bansSection(services, request, ban) : ""
  }`;
  return page(services, request, { title: said.title, here: "users", content, status: statusOf(sent) });
}

export const usersRoute: ConsoleRoute = {
  access: "console",
  name: "consoleUsers",
  method: "GET",
  path: "/console/users",
  who: "administer",
  run: (services, request) => usersPage(services, request),
};
