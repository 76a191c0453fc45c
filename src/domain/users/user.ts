/** The user as a host sends it (specification/resources.md#user). The sign-in has its own part of it. */
import { type Static, Type } from "@sinclair/typebox";
import type { Fault } from "../../lib/errors.ts";
import { createEntityCheck } from "../fields/entity-check.ts";
import { maxLengthOf } from "../fields/field-limits.ts";
import {
  boundedText,
  charactersIn,
  dayOrDateTime,
  identifier,
  number,
  optionals,
  reference,
  text,
  textOrNumber,
} from "../fields/fields.ts";
import { isRole, type Role, roles } from "./role.ts";

const maxUserNameLength = maxLengthOf("userName");
const leastPasswordLength = 8;
const maxPasswordLength = 1_000;

/** The form of a user name, for messages. */
export const userNameForm = `1 to ${maxUserNameLength} characters without : / and control or invisible characters, of one alphabet, without spaces at the ends, and not of dots alone`;
/** The form of a password, for messages. */
export const passwordForm = `${leastPasswordLength} to ${maxPasswordLength} characters`;

/** Alphabets whose letters are taken for those of one another. */
const similarScripts = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
];

/** A Cyrillic letter in a Latin name makes another user that nobody can tell from the first. */
function isOfSeveralScripts(userName: string): boolean {
  return similarScripts.filter((script) => script.test(userName)).length > 1;
}

/**
 * HTTP Basic ends the name at the first colon, so a name with one could never sign in. A name that reads as a path would
 * mislead in logs, commands and addresses.
 */
export function isUserName(userName: string): boolean {
  if (charactersIn(userName) > maxUserNameLength || /^\.+$/.test(userName)) return false;
  if (/\p{Default_Ignorable_Code_Point}/u.test(userName) || isOfSeveralScripts(userName)) return false;
  return /^[^\s:/\p{C}]([^:/\p{C}]*[^\s:/\p{C}])?$/u.test(userName);
}

/** Whether a password is neither too short nor too long. */
export function isPasswordOfLength(password: string): boolean {
  const characters = charactersIn(password);
  return characters >= leastPasswordLength && characters <= maxPasswordLength;
}

/** Perhaps a line break in the middle: no client could send it. */
export function hasControlCharacter(password: string): boolean {
  return /[\p{Cc}]/u.test(password);
}

const RoleName = Type.Object({ role: identifier("role") });
/** `{ role: [{ role: "DI_Driver" }] }`, or flat: `{ role: "DI_Driver" }`. */
const RoleEntry = Type.Object({ role: Type.Union([identifier("role"), Type.Array(RoleName)]) });

const person = {
  userName: identifier("userName"),
  ...optionals(text, "firstName", "lastName", "middleName", "gender"),
  dob: Type.Optional(dayOrDateTime()),
  email: Type.Optional(text("email")),
  ...optionals(textOrNumber, "phoneNumber", "smsNumber"),
  ...optionals(text, "address1", "address2", "city", "state"),
  zip: Type.Optional(textOrNumber("zip")),
  country: Type.Optional(text("country")),
  /** The client's own key of the user. */
  userKey: Type.Optional(reference("userKey")),
  /** A picture, base64. Held to the limit of the whole request only, as the content of documents is. */
  profilePic: Type.Optional(Type.String()),
};

const access = {
  password: Type.Optional(boundedText({ minLength: leastPasswordLength, maxLength: maxPasswordLength })),
  passwordNeverExpires: Type.Optional(Type.Boolean()),
  forcePwdChg: Type.Optional(Type.Boolean()),
  enabled: Type.Optional(Type.Boolean()),
  unableToUseApp: Type.Optional(Type.Boolean()),
  userRoles: Type.Optional(Type.Array(RoleEntry)),
};

const driving = {
  cdlNumber: Type.Optional(reference("cdlNumber")),
  licenseAuthority: Type.Optional(text("licenseAuthority")),
  licenseExpirationDttm: Type.Optional(dayOrDateTime()),
  licenseState: Type.Optional(text("licenseState")),
  /**
   * Partner codes; a driver belongs to the carriers that stand here or in `accountNumber`
   * (specification/stop-states.md#available-drivers).
   */
  assignedGroups: Type.Optional(Type.Union([text("assignedGroups"), Type.Array(text("assignedGroups"))])),
  accountNumber: Type.Optional(reference("accountNumber")),
  assignmentType: Type.Optional(number()),
};

export const User = Type.Object({ ...person, ...access, ...driving });
export type User = Static<typeof User>;

const checkUser = createEntityCheck(User);

/** The names in `userRoles`, in both forms, each once; undefined when the user has no such field. */
function roleNamesOf(user: User): readonly string[] | undefined {
  if (user.userRoles === undefined) return undefined;
  const names = user.userRoles.flatMap(({ role }) =>
    typeof role === "string" ? [role] : role.map((inner) => inner.role),
  );
  return [...new Set(names)];
}

/** The roles of a user that has been checked. */
export function rolesOf(user: User): readonly Role[] | undefined {
  return roleNamesOf(user)?.filter(isRole);
}

function faultsOfRoles(user: User, path: string): Fault[] {
  const unknown = (roleNamesOf(user) ?? []).filter((name) => !isRole(name));
  const at = `${path}.userRoles`;
  return unknown.map((name) => ({
    code: "wrongType",
    path: at,
    message: `${at} has the role ${JSON.stringify(name.slice(0, 60))}. Send some of ${roles.join(", ")}.`,
  }));
}

function faultsOfName({ userName }: User, path: string): Fault[] {
  if (isUserName(userName)) return [];
  const at = `${path}.userName`;
  const message = `${at} is not valid: ${JSON.stringify(userName.slice(0, 60))}. Use ${userNameForm}.`;
  return [{ code: "wrongType", path: at, message }];
}

function faultsOfPassword({ password }: User, path: string): Fault[] {
  if (password === undefined || !hasControlCharacter(password)) return [];
  const at = `${path}.password`;
  return [{ code: "wrongType", path: at, message: `${at} holds a control character. Send another one.` }];
}

/**
 * What is wrong with a user that has been through `normaliseUser`; an empty list when nothing is. `path` is where it
 * stands in the request (`users[3]`). At most 50 faults. A fault never shows a password.
 */
export function validateUser(value: unknown, path: string): Fault[] {
  const faults = checkUser(value, path);
  if (faults.length > 0) return faults.map(withoutPassword);
  const user = value as User;
  return [...faultsOfName(user, path), ...faultsOfPassword(user, path), ...faultsOfRoles(user, path)];
}

function withoutPassword(fault: Fault): Fault {
  if (!fault.path?.endsWith(".password")) return fault;
  // The field is optional: what lacks is length.
  const code = fault.code === "missing" ? "wrongType" : fault.code;
  return { ...fault, code, message: `${fault.path} is not taken. Send text of ${passwordForm}.` };
}
