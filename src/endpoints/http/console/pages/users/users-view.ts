/** What the pages of users ask the store, and what is found. */
import type { Role } from "../../../../../domain/users/role.ts";

/** Behind this user, in the order of the names. */
export interface UserPlace {
  readonly userName: string;
  readonly id: number;
}

export interface UsersAsked {
  /** A part of the name. */
  readonly name: string | undefined;
  readonly companyCode: string | undefined;
  readonly behind: UserPlace | undefined;
  readonly limit: number;
}

export interface ShownMembership {
  readonly companyId: number;
  readonly companyCode: string;
  readonly roles: readonly Role[];
}

export interface ShownUser {
  readonly userId: number;
  readonly userName: string;
  readonly isEnabled: boolean;
  readonly mustChangePassword: boolean;
  readonly hasPassword: boolean;
  readonly keyCount: number;
  /** Those that who asks may see. */
  readonly memberships: readonly ShownMembership[];
  /** Milliseconds UTC; undefined when no sign-in is known. */
  readonly lastSeenAt: number | undefined;
}

export interface ShownCompany {
  readonly id: number;
  readonly code: string;
  readonly name: string | undefined;
  readonly createdAt: number;
  readonly members: number;
  /** Users who administer it and can sign in to the console. */
  readonly administrators: number;
}

export interface UsersFound {
  readonly users: readonly ShownUser[];
  readonly next: UserPlace | undefined;
  readonly companies: readonly ShownCompany[];
}

export interface ShownKey {
  readonly keyType: string;
  readonly fingerprint: string;
  readonly comment: string;
}

export interface UserDetail extends ShownUser {
  readonly createdAt: number;
  readonly keys: readonly ShownKey[];
  /** Whether who asks may change how the user signs in. */
  readonly maySetSignIn: boolean;
  /** Newest first. */
  readonly seenFrom: readonly { readonly address: string; readonly lastAt: number }[];
  /** Ids of the companies whose audit means another user by this name. */
  readonly namesakesIn: readonly number[];
}
