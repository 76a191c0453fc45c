/** What a company is called and where it is: for people, and for legacy JSON. Its code is what it is known by. */
import { maxLengthOf } from "../fields/field-limits.ts";

export const companyFields = ["name", "addr1", "addr2", "city", "state", "zip", "country"] as const;

export type CompanyField = (typeof companyFields)[number];

/** What is not known is not there. */
export type CompanyProfile = Readonly<Partial<Record<CompanyField, string>>>;

/** What is wrong with a value; undefined when nothing is. An empty one takes the field away. */
export function faultOfCompanyField(field: CompanyField, value: string): string | undefined {
  const limit = maxLengthOf(field);
  const length = [...value].length;
  if (length > limit) return `${field} is ${length} characters long, more than its maximum of ${limit}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be in it.
  return /[\u0000-\u001f\u007f]/.test(value) ? `${field} has control characters` : undefined;
}
