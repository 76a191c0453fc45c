/** Companies and users, as the commands of an administrator manage them. */
import { readFile } from "node:fs/promises";
import { createLocations } from "../../inbound/places/locations.ts";
import type { Config } from "../../config/schema.ts";
import type { CompanyProfile } from "../../domain/users/company-profile.ts";
import { ensureCompanyTree } from "../../exchange/folders/company-folders.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import { isoTime } from "../../lib/iso-time.ts";
import * as companyAdmin from "../../operations/users/company-admin.ts";
import * as userAdmin from "../../operations/users/user-admin.ts";
import { type Company, findCompany, listCompanies as readCompanies } from "../../store/accounts/companies.ts";
import { type AdminStore, type StateConfig, withAdminStore } from "./admin-store.ts";
import { enterOutbound } from "../daemon/outbound-settings.ts";
import { WrongUseError } from "./wrong-use-error.ts";

export interface CompanyView extends CompanyProfile {
  readonly code: string;
  /** ISO, UTC. */
  readonly createdAt: string;
}

/** Registers a company and makes its folders. */
export async function registerCompany(
  store: AdminStore,
  config: Pick<Config, "stateDir" | "companies">,
  companyCode: string,
): Promise<{ readonly code: string; readonly isNew: boolean; readonly folder: string }> {
  const { company, isNew } = await companyAdmin.addCompany({ store, clock: systemClock }, companyCode);
  if (isNew) await store.write(company.id, (tx) => enterOutbound(tx, config, company));
  const folder = await ensureCompanyTree(createLocations(config.stateDir).companiesDirectory, company.code);
  return { code: company.code, isNew, folder };
}

/** The same, for the command. */
export async function addCompany(config: Pick<Config, "stateDir" | "companies">, code: string) {
  return await withAdminStore(config, (store) => registerCompany(store, config, code));
}

function companyView({ code, createdAt, profile }: Company): CompanyView {
  return { code, createdAt: isoTime(createdAt), ...profile };
}

export async function listCompanies(config: StateConfig): Promise<readonly CompanyView[]> {
  return await withAdminStore(config, async ({ read }) => (await readCompanies(read)).map(companyView));
}

async function codesOf({ read }: Pick<AdminStore, "read">): Promise<readonly string[]> {
  return (await readCompanies(read)).map(({ code }) => code);
}

async function refuseUnknown(store: Pick<AdminStore, "read">, code: string): Promise<never> {
  const codes = (await codesOf(store)).join(", ");
  throw new WrongUseError(`there is no company ${code}; there is ${codes === "" ? "none yet" : codes}`);
}

/** Sets name and address of a company; an empty text takes a field away. Gives the company as it is then. */
export async function setCompany(
  config: StateConfig,
  code: string,
  change: companyAdmin.CompanyChange,
): Promise<CompanyView> {
  if (Object.keys(change).length === 0)
    throw new WrongUseError("nothing to change: give --name or a part of the address (see --help)");
  return await withAdminStore(config, async (store) => {
    const company = await companyAdmin.setCompany({ store }, code, change);
    return company === undefined ? await refuseUnknown(store, code) : companyView(company);
  });
}

/** The company of that code; undefined, which stands for all, when no code is given. */
export async function chooseCompany(store: Pick<AdminStore, "read">, code: string | undefined) {
  if (code === undefined) return undefined;
  return (await findCompany(store.read, code)) ?? (await refuseUnknown(store, code));
}

/** The company of that code alone; all companies when no code is given. */
export async function chooseCompanies(
  store: Pick<AdminStore, "read">,
  code: string | undefined,
): Promise<readonly Company[]> {
  const company = await chooseCompany(store, code);
  return company === undefined ? await readCompanies(store.read) : [company];
}

/** The company of that code as a filter of queries. */
export async function companyFilter(
  store: Pick<AdminStore, "read">,
  code: string | undefined,
): Promise<{ readonly companyId?: number }> {
  return given({ companyId: (await chooseCompany(store, code))?.id });
}

/** The company of that code, or the only one; undefined when there is none yet. With several, a code has to be given. */
export async function requireCompany(
  store: Pick<AdminStore, "read">,
  code: string | undefined,
): Promise<Company | undefined> {
  const chosen = await chooseCompany(store, code);
  if (chosen !== undefined) return chosen;
  const companies = await readCompanies(store.read);
  if (companies.length <= 1) return companies[0];
  const codes = companies.map((company) => company.code).join(", ");
  throw new WrongUseError(`there are several companies (${codes}): name one with --company`);
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
export async function readPasswordFile(path: string | undefined): Promise<string | undefined> {
  return path === undefined ? undefined : await readGiven(path, "password file");
}

function readKeyFile(path: string): Promise<string> {
  return readGiven(path, "public key file");
}

/** The operation as a command runs it: on the store of the configuration. */
function onAccounts<Given extends unknown[], Result>(
  operation: (deps: { store: AdminStore; clock: Clock }, ...given: Given) => Promise<Result>,
) {
  return (config: StateConfig, ...given: Given): Promise<Result> =>
    withAdminStore(config, (store) => operation({ store, clock: systemClock }, ...given));
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
  const { passwordFile, keyFile, ...user } = options;
  // Read before the store is opened: the files may be readable for root alone.
  const password = await readPasswordFile(passwordFile);
  const publicKey = keyFile === undefined ? undefined : await readKeyFile(keyFile);
  const secrets = given({ password, publicKey });
  return await onAccounts(userAdmin.addUser)(config, { ...user, ...secrets });
}

export interface UserView extends Omit<userAdmin.ListedUser, "createdAt"> {
  readonly createdAt: string;
}

/** All users, or those of one company. */
export async function listUsers(
  config: StateConfig,
  options: { readonly company?: string },
): Promise<readonly UserView[]> {
  return await withAdminStore(config, async (store) => {
    const company = await chooseCompany(store, options.company);
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
  const password = given({ password: await readPasswordFile(passwordFile) });
  return await onAccounts(userAdmin.setPassword)(config, { ...user, ...password });
}

/** Lets a user sign in, or no more. */
export const setUserEnabled = onAccounts(userAdmin.setEnabled);

/** Adds the public key in a file to a user. */
export async function addUserKey(
  config: StateConfig,
  who: userAdmin.UserReference & { readonly keyFile: string },
): Promise<{ readonly fingerprint: string; readonly isNew: boolean }> {
  const { keyFile, ...user } = who;
  const publicKey = await readKeyFile(keyFile);
  return await onAccounts(userAdmin.addUserKey)(config, { ...user, publicKey });
}

export type UserKeyView = userAdmin.ListedKey;

/** The public keys of one user. */
export const listUserKeys = onAccounts(userAdmin.listKeysOfUser);

/** Takes a public key away from a user. */
export const removeUserKey = onAccounts(userAdmin.removeUserKey);
