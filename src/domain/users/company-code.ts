/** The code that names a company (specification/accounts.md#companies). */
const form = /^[A-Za-z0-9_-]{1,20}$/;

/** Why a text cannot be a company code, or undefined when it can. */
export function faultOfCompanyCode(code: string): string | undefined {
  if (form.test(code)) return undefined;
  return `the company code ${JSON.stringify(code.slice(0, 60))} is not valid: use 1 to 20 letters, digits, _ and -`;
}

/** What codes are compared by: without regard to case. */
export function companyCodeKey(code: string): string {
  return code.toLowerCase();
}

/** Whether two codes name the same company. */
export function isSameCompanyCode(one: string, other: string): boolean {
  return companyCodeKey(one) === companyCodeKey(other);
}
