/** Name and address of a company: for people, and for legacy JSON. It is identified by its code. */
import { maxLengthOf } from "../fields/field-limits.ts";

export const companyFields = ["name", "addr1", "addr2", "city", "state", "zip", "country"] as const;

export type CompanyField = (typeof companyFields)[number];

/** Unknown values are absent. */
export type CompanyProfile = Readonly<Partial<Record<CompanyField, string>>>;

/** What is wrong with a value; undefined when nothing is. An empty one clears the field. */
export function faultOfCompanyField(field: CompanyField, value: string): string | undefined {
  const limit = maxLengthOf(field);
  const length = [...value].length;
  if (length > limit) return `${field} is ${length} characters long, more than its maximum of ${limit}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be in it.
  return /[\u0000-\u001f\u007f]/.test(value) ? `${field} has control characters` : undefined;
}
