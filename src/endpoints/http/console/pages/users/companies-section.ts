/** The companies that the viewer administers, of operators all, and the form by which operators add one. */
import { maxLengthOf } from "../../../../../domain/fields/field-limits.ts";
import type { ConsoleRequest } from "../../console-route.ts";
import { countText } from "../../kit/amounts.ts";
import { badge } from "../../kit/badge.ts";
import { textField } from "../../kit/fields.ts";
import { reasonForm } from "../../kit/forms.ts";
import { type Html, html } from "../../kit/html.ts";
import { type Addresses, link } from "../../kit/link.ts";
import { section } from "../../kit/section.ts";
import { shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import type { UsersFound } from "./users-view.ts";

const said = words.users;

/** A form to add a company that was sent, and what was wrong with it. */
export interface SentCompany {
  readonly form: URLSearchParams;
  /** Of the reason. */
  readonly fault?: string | undefined;
  /** Of code or name, or why there can be none of that code. */
  readonly refusal?: string | undefined;
}

function companiesTable({ companies }: UsersFound, to: Addresses): Html {
  const rows = companies.map(({ code, name, members, administrators, createdAt }) => [
    link(to.at("/users", { company: code }), shortened(code, 40)),
    name === undefined ? words.kit.none : shortened(name, 80),
    countText(members),
    administrators === 0 ? badge("wait", said.noAdministrator) : countText(administrators),
    timeText(createdAt),
  ]);
  const { code, name, members, administrators, since } = said.companyHead;
  const numbers = [members, administrators].map((text) => ({ text, isNumber: true }));
  const options = { caption: said.companies, isCaptionHidden: true, empty: said.none };
  return table([code, name, ...numbers, since], rows, options);
}

function addForm({ user }: ConsoleRequest, to: Addresses, sent?: SentCompany): Html {
  const { title: opener, button, explanation, code, codeHint, name } = said.addCompany;
  return reasonForm({
    ...{ id: "new-company", action: to.at("/companies/add"), formToken: user.formToken },
    ...{ opener, label: button, explanation, isOpen: sent !== undefined },
    ...{ error: sent?.fault, reason: sent?.form.get("reason") ?? "" },
    fields: html`${textField({
      ...{ name: "code", id: "new-company-code", label: code, hint: codeHint, error: sent?.refusal },
      ...{ value: sent?.form.get("code") ?? "", isRequired: true, maxLength: maxLengthOf("companyCode") },
      autocomplete: "off",
    })}${textField({
      ...{ name: "name", id: "new-company-name", label: name, value: sent?.form.get("name") ?? "" },
      ...{ maxLength: maxLengthOf("name"), autocomplete: "off" },
    })}`,
  });
}

export function companiesSection(
  request: ConsoleRequest,
  to: Addresses,
  { found, sent }: { readonly found: UsersFound; readonly sent: SentCompany | undefined },
): Html {
  const add = request.user.isOperator ? addForm(request, to, sent) : "";
  return section(said.companies, html`${companiesTable(found, to)}${add}`, { id: "companies" });
}
