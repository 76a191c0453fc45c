/** Roles a user can hold in a company (specification/accounts.md#roles). */
export const roles = [
  "MemberAdmin",
  "DI_Dispatcher",
  "DI_Driver",
  "DI_Integration",
  "DI_Inquiry",
  "DI_Receiver",
] as const;

export type Role = (typeof roles)[number];

export function isRole(text: string): text is Role {
  return roles.some((role) => role === text);
}
