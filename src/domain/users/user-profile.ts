/**
 * What a company stores of a user beside roles and password, and how drivers are found
 * (specification/accounts.md#users).
 */
import type { User } from "./user.ts";

type Kept = Omit<User, "password" | "userRoles">;

/**
 * A user as its company sent it, over several imports, without password and roles. Profiles of earlier versions have null
 * where a field was sent as null.
 */
export type UserProfile = { readonly [Field in keyof Kept]?: Kept[Field] | null };

/** The profile after an import: what is not sent stays as it was. */
export function mergedProfile(before: UserProfile, user: User): UserProfile {
  const { password: _password, userRoles: _roles, ...sent } = user;
  return { ...before, ...sent };
}

function trimmed(value: string | number | null | undefined): string {
  return String(value ?? "").trim();
}

function textOrNull(value: string | number | null | undefined): string | null {
  const text = trimmed(value);
  return text === "" ? null : text;
}

/** The partner codes that a user belongs to, each once: those of `assignedGroups`, and `accountNumber`. */
function carrierCodesOf({ assignedGroups, accountNumber }: UserProfile): readonly string[] {
  const groups = typeof assignedGroups === "string" ? assignedGroups.split(/[,;]/) : (assignedGroups ?? []);
  const codes = [...groups.map(trimmed), trimmed(accountNumber)];
  return [...new Set(codes)].filter((code) => code !== "");
}

/** First and last name with single blanks. */
function fullNameOf({ firstName, lastName }: UserProfile): string | null {
  const words = [trimmed(firstName), trimmed(lastName)].join(" ").split(/\s+/);
  return textOrNull(words.join(" "));
}

/** The values that a driver is found by, and what keeps the driver from being picked. */
export interface DriverMarks {
  readonly email: string | null;
  readonly cdlNumber: string | null;
  readonly fullName: string | null;
  /** Codes of the carriers that the user belongs to. */
  readonly carrierCodes: readonly string[];
  readonly isUnableToUseApp: boolean;
}

/** What the user of the profile is found by as a driver; null for what it does not have. */
export function driverMarksOf(profile: UserProfile): DriverMarks {
  return {
    email: textOrNull(profile.email),
    cdlNumber: textOrNull(profile.cdlNumber),
    fullName: fullNameOf(profile),
    carrierCodes: carrierCodesOf(profile),
    isUnableToUseApp: profile.unableToUseApp === true,
  };
}
