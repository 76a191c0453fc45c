/** The users who see what belongs to all companies (specification/console.md#access). */
import { isSameCompanyCode } from "./company-code.ts";

/** A user, as far as it takes to tell it from others of its name. */
interface NamedUser {
  readonly userName: string;
  readonly memberships: readonly { readonly companyCode: string }[];
}

/** Whether the list names the user, as NAME@COMPANY: another company may have a user of the same name. */
export function isNamedOperator(operators: readonly string[], { userName, memberships }: NamedUser): boolean {
  return operators.some((operator) => {
    const at = operator.lastIndexOf("@");
    if (operator.slice(0, at) !== userName) return false;
    return memberships.some(({ companyCode }) => isSameCompanyCode(companyCode, operator.slice(at + 1)));
  });
}
