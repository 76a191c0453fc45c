/** Companies and users, as the commands of an administrator manage them. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/schema.ts";
import type { CompanyProfile } from "../../domain/users/company-profile.ts";
import { ensureCompanyTree } from "../../exchange/folders/company-tree.ts";
import { systemClock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/errors.ts";
import { isoTime } from "../../lib/iso-time.ts";
import * as companyAdmin from "../../operations/users/company-admin.ts";
import * as userAdmin from "../../operations/users/user-admin.ts";
import { type Company, findCompany, listCompanies as readCompanies } from "../../store/accounts/companies.ts";
import { type AdminStore, withAdminStore } from "./admin-store.ts";
import { enterOutbound } from "../daemon/outbound-settings.ts";
import { WrongUseError } from "./wrong-use-error.ts";

export type StateConfig = Pick<Config, "stateDir">;

export interface CompanyView extends CompanyProfile {
  readonly code: string;
  /** ISO, UTC. */
  readonly createdAt: string;
}

/** The folder that holds one folder for each company. */
export function companiesDirOf(config: StateConfig): string {
  return join(config.stateDir, "companies");
}

/** Registers a company and makes its folders. */
export async function addCompany(
  config: Pick<Config, "stateDir" | "companies">,
  code: string,
): Promise<{ readonly code: string; readonly isNew: boolean; readonly folder: string }> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const { company, isNew } = await companyAdmin.addCompany({ store, clock: systemClock }, code);
    if (isNew) await store.write(company.id, (tx) => enterOutbound(tx, config, company));
    const folder = await ensureCompanyTree(companiesDirOf(config), company.code);
    return { code: company.code, isNew, folder };
  });
}

function companyView({ code, createdAt, profile }: Company): CompanyView {
  return { code, createdAt: isoTime(createdAt), ...profile };
}

export async function listCompanies(config: StateConfig): Promise<readonly CompanyView[]> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, async ({ read }) =>
    (await readCompanies(read)).map(companyView),
  );
}

/** Sets name and address of a company; an empty text takes a field away. Gives the company as it is then. */
export async function setCompany(
  config: StateConfig,
  code: string,
  change: companyAdmin.CompanyChange,
): Promise<CompanyView> {
  if (Object.keys(change).length === 0)
    throw new WrongUseError("nothing to change: give --name or a part of the address (see --help)");
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const company = await companyAdmin.setCompany({ store }, code, change);
    if (company !== undefined) return companyView(company);
    const codes = (await readCompanies(store.read)).map((known) => known.code).join(", ");
    throw new WrongUseError(`there is no company ${code}; there is ${codes === "" ? "none yet" : codes}`);
  });
}

/** The company of that code; the only one when no code is given. Undefined when none is given and there are several. */
export async function chooseCompany(
  { read }: Pick<AdminStore, "read">,
  code: string | undefined,
): Promise<Company | undefined> {
  if (code === undefined) {
    const all = await readCompanies(read);
    return all.length === 1 ? all[0] : undefined;
  }
  const company = await findCompany(read, code);
  if (company !== undefined) return company;
  const codes = (await readCompanies(read)).map((known) => known.code).join(", ");
  throw new WrongUseError(`there is no company ${code}; there is ${codes === "" ? "none yet" : codes}`);
}

/** The company of that code, or the only one; undefined when there is none yet. With several, a code has to be given. */
export async function requireCompany(
  store: Pick<AdminStore, "read">,
  code: string | undefined,
): Promise<Company | undefined> {
  const company = await chooseCompany(store, code);
  if (company !== undefined) return company;
  const codes = (await readCompanies(store.read)).map((known) => known.code);
  if (codes.length === 0) return undefined;
  throw new WrongUseError(`there are several companies (${codes.join(", ")}): name one with --company`);
}

const maxSecretBytes = 10_000;

async function readGiven(path: string, what: string): Promise<string> {
  let text: string;
  try {
    text = path === "-" ? await readAll(process.stdin) : await readFile(path, "utf8");
  } catch (error) {
    throw new WrongUseError(`the ${what} ${path} cannot be read: ${messageOf(error)}`);
  }
  if (text.length > maxSecretBytes) throw new WrongUseError(`the ${what} ${path} is too long to be one`);
  const value = text.replace(/\r?\n$/, "");
  if (value === "") throw new WrongUseError(`the ${what} ${path} is empty`);
  return value;
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

/** The content of a password file without its last line break; `-` is standard input. */
export function readPasswordFile(path: string | undefined): Promise<string | undefined> {
  return path === undefined ? Promise.resolve(undefined) : readGiven(path, "password file");
}

/** The content of a public key file. */
function readKeyFile(path: string): Promise<string> {
  return readGiven(path, "public key file");
}

export interface NewUserOptions {
  readonly userName: string;
  readonly companyCode: string;
  readonly roles: readonly string[];
  readonly passwordFile?: string;
  readonly keyFile?: string;
}

/** Adds a user to a company, or brings the one that is there up to what is given. */
export async function addUser(config: StateConfig, options: NewUserOptions): Promise<userAdmin.AddedUser> {
  // Read before the store is opened: the files may be readable for root alone.
  const password = await readPasswordFile(options.passwordFile);
  const publicKey = options.keyFile === undefined ? undefined : await readKeyFile(options.keyFile);
  return await withAdminStore(config.stateDir, { mayCreate: false }, (store) =>
    userAdmin.addUser(
      { store, clock: systemClock },
      {
        userName: options.userName,
        companyCode: options.companyCode,
        roles: options.roles,
        ...(password === undefined ? {} : { password }),
        ...(publicKey === undefined ? {} : { publicKey }),
      },
    ),
  );
}

export interface UserView extends Omit<userAdmin.ListedUser, "createdAt"> {
  readonly createdAt: string;
}

/** All users, or those of one company. */
export async function listUsers(
  config: StateConfig,
  options: { readonly companyCode?: string },
): Promise<readonly UserView[]> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const { companyCode } = options;
    const company = companyCode === undefined ? undefined : await chooseCompany(store, companyCode);
    const users = await userAdmin.listUsers({ store });
    return users
      .filter(
        ({ memberships }) => company === undefined || memberships.some((m) => m.companyCode === company.code),
      )
      .map((user) => ({ ...user, createdAt: isoTime(user.createdAt) }));
  });
}

/** Sets the password from a file, or a made-up one, which is in the answer then. */
export async function setPassword(
  config: StateConfig,
  who: userAdmin.UserReference & { readonly passwordFile?: string },
): Promise<{ readonly generatedPassword?: string }> {
  const { passwordFile, ...user } = who;
  const password = await readPasswordFile(passwordFile);
  return await withAdminStore(config.stateDir, { mayCreate: false }, (store) =>
    userAdmin.setPassword(
      { store, clock: systemClock },
      password === undefined ? user : { ...user, password },
    ),
  );
}

/** Lets a user sign in, or no more. */
export async function setUserEnabled(
  config: StateConfig,
  who: userAdmin.UserReference,
  isEnabled: boolean,
): Promise<{ readonly isChanged: boolean }> {
  const change = isEnabled ? userAdmin.enableUser : userAdmin.disableUser;
  return await withAdminStore(config.stateDir, { mayCreate: false }, (store) =>
    change({ store, clock: systemClock }, who),
  );
}

/** Adds the public key in a file to a user. */
export async function addUserKey(
  config: StateConfig,
  who: userAdmin.UserReference & { readonly keyFile: string },
): Promise<{ readonly fingerprint: string; readonly isNew: boolean }> {
  const { keyFile, ...user } = who;
  const publicKey = await readKeyFile(keyFile);
  return await withAdminStore(config.stateDir, { mayCreate: false }, (store) =>
    userAdmin.addUserKey({ store, clock: systemClock }, { ...user, publicKey }),
  );
}

export type UserKeyView = userAdmin.ListedKey;

/** The public keys of one user. */
export async function listUserKeys(
  config: StateConfig,
  who: userAdmin.UserReference,
): Promise<readonly UserKeyView[]> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, (store) =>
    userAdmin.listKeysOfUser({ store }, who),
  );
}

/** Takes a public key away from a user. */
export async function removeUserKey(
  config: StateConfig,
  who: userAdmin.UserReference & { readonly fingerprint: string },
): Promise<{ readonly fingerprint: string; readonly canSignIn: boolean }> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, (store) =>
    userAdmin.removeUserKey({ store, clock: systemClock }, who),
  );
}
