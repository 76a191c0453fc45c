/** What the list of users and the page of one have in common, and their forms. */
import { roles as allRoles } from "../../../../../domain/users/role.ts";
import { DropgateError } from "../../../../../lib/errors.ts";
import { ActRefused } from "../../console-acts.ts";
import { companiesFor, type ConsoleUser } from "../../console-user.ts";
import type { Scope } from "../../console-services.ts";
import { badge } from "../../kit/badge.ts";
import { checkField } from "../../kit/fields.ts";
import { type Html, html } from "../../kit/html.ts";
import { shortened } from "../../kit/shown-text.ts";
import { words } from "../../words/words.ts";
import type { ShownUser } from "./users-view.ts";

const said = words.users;

/** The companies in which the user administers users; operators see those of all. */
export function administered(user: ConsoleUser): Scope {
  const companies = companiesFor(user, "act").map(({ id, code }) => ({ id, code }));
  return { companies, isOperator: user.isOperator };
}

/**
 * For which company an act on a user of these companies is done: the one, when the viewer administers it; else operators act
 * for the installation, and others for one that they administer.
 */
export function actingFor(user: ConsoleUser, companyIds: readonly number[]): number | undefined {
  const own = companiesFor(user, "act").filter(({ id }) => companyIds.includes(id));
  if (user.isOperator && own.length < companyIds.length) return undefined;
  return companyIds.length > 1 && user.isOperator ? undefined : own[0]?.id;
}

export function rolesText({ memberships }: Pick<ShownUser, "memberships">): Html {
  const parts = memberships.map(
    ({ companyCode, roles }) =>
      html`<span><strong>${shortened(companyCode, 40)}</strong> ${roles.join(", ")}</span>`,
  );
  return html`<span class="stack">${parts}</span>`;
}

export function stateBadge({ isEnabled, mustChangePassword }: ShownUser): Html {
  if (!isEnabled) return badge("off", said.disabled);
  return mustChangePassword ? badge("wait", said.mustChange) : badge("ok", said.enabled);
}

export function signsInWith({ hasPassword, keyCount }: ShownUser): string {
  const ways = [...(hasPassword ? [said.password] : []), ...(keyCount > 0 ? [said.keys(keyCount)] : [])];
  return ways.length === 0 ? said.nothingToSignIn : ways.join(", ");
}

/** Each chosen role comes as a field of its own. */
export function roleFields(chosen: readonly string[]): Html {
  const fields = allRoles.map((role) =>
    checkField({
      name: "role",
      label: `${role}: ${said.rolesMean[role]}`,
      value: role,
      isChecked: chosen.includes(role),
    }),
  );
  return html`<fieldset><legend>${said.add.roles}</legend>${fields}</fieldset>`;
}

/** What a refused act says at its form; all else is a fault of the request or of ours, and goes on. */
export function refusalIn(error: unknown): string {
  if (error instanceof ActRefused) return error.message;
  if (error instanceof DropgateError && ["missing", "wrongType", "overloaded"].includes(error.code))
    return error.message;
  throw error;
}
