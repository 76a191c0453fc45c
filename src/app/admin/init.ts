/**
 * `dropgate init`: everything a first start needs. Each step is skipped when its result exists, so running it again
 * changes nothing, and running it again after a crash completes it.
 */
import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isRestoreOpen } from "../../backup/restore-backup.ts";
import { httpAddressOf, localHostOf } from "../../config/reader/address-range.ts";
import type { ConfigFault } from "../../config/reader/config-fault.ts";
import { loadConfig } from "../../config/load-config.ts";
import type { Config } from "../../config/schema.ts";
import { ensureHostKeys, hostKeyFilesOf } from "../../endpoints/sftp/host-key.ts";
import { faultOfCompanyCode, isSameCompanyCode } from "../../domain/users/company-code.ts";
import {
  hasControlCharacter,
  isPasswordOfLength,
  isUserName,
  passwordForm,
  userNameForm,
} from "../../domain/users/user.ts";
import { systemClock } from "../../lib/clock.ts";
import { given } from "../../lib/given.ts";
import { makeDirectoryDurably, writeFileDurably } from "../../lib/files/durable-file.ts";
import { isPasswordOf } from "../../lib/password-hash.ts";
import * as userAdmin from "../../operations/users/user-admin.ts";
import { findUsersByName } from "../../store/accounts/users.ts";
import { readPasswordFile, registerCompany } from "./admin.ts";
import { type AdminStore, becomeOwnerOf, withAdminStore } from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";

/** The options of the command. */
export interface InitOptions {
  readonly dir: string;
  readonly company: string;
  readonly user: string;
  readonly passwordFile?: string;
  readonly httpPort?: number;
  readonly sftpPort?: number;
  /** Where the state goes, when not to `var/` in `dir`. */
  readonly stateDir?: string;
  /** Where the configuration is written, when not to `dropgate.yaml` in `dir`. */
  readonly configFile?: string;
}

export interface InitDone {
  readonly kind: "done";
  readonly configFile: string;
  readonly stateDir: string;
  readonly companyCode: string;
  readonly companyFolder: string;
  readonly userName: string;
  readonly generatedPassword?: string;
  readonly hostKeyFingerprint: string;
  readonly http: string;
  /** Undefined when the configuration switches SFTP off. */
  readonly sftp?: { readonly host: string; readonly port: number };
  /** Whether the password of `passwordFile` is the user's; undefined when none was given. */
  readonly isPasswordRight?: boolean;
  /** What this run made, for the output; empty when everything existed. */
  readonly made: readonly string[];
  /** Options that an existing configuration overrides; each message says where the value is set. */
  readonly ignored: readonly string[];
}

export type InitOutcome =
  | InitDone
  | { readonly kind: "faulty"; readonly file: string; readonly faults: readonly ConfigFault[] };

function configText(stateDir: string, options: InitOptions): string {
  const port = (given: number | undefined, standard: number) =>
    given === undefined ? `  #port: ${standard}` : `  port: ${given}`;
  return `# Configuration of dropgate. What is not set here has its default; docs/configuration.md lists all settings.
# \`dropgate check\` tells whether all is well. Relative paths start at the folder of this file.

# Database, host keys and the companies' folders.
stateDir: ${JSON.stringify(stateDir)}

# The web service and the REST gateway. Listens on this machine alone; before other addresses are let in
# (host: 0.0.0.0), set up TLS here, or a TLS proxy in front and allowPlain: true.
http:
  #host: 127.0.0.1
${port(options.httpPort, 8080)}

# The SFTP server, on this machine alone as well.
sftp:
  #host: 127.0.0.1
${port(options.sftpPort, 2222)}

# Settings by company, such as further drop folders.
#companies:
#  ${options.company}:
#    folders:
#      - path: /srv/orders
`;
}

/** Before anything is made. */
function checkNames({ company, user: userName }: InitOptions): void {
  const fault = faultOfCompanyCode(company);
  if (fault !== undefined) throw new WrongUseError(fault);
  if (isUserName(userName)) return;
  throw new WrongUseError(
    `the user name ${JSON.stringify(userName.slice(0, 60))} is not valid: use ${userNameForm}`,
  );
}

function checkPassword(password: string): void {
  if (isPasswordOfLength(password) && !hasControlCharacter(password)) return;
  throw new WrongUseError(
    `the password must have ${passwordForm} and no control character, such as a line break in the middle`,
  );
}

function ignoredOptions(file: string, config: Config, options: InitOptions): readonly string[] {
  const asked = options.stateDir === undefined ? undefined : resolve(options.stateDir);
  const settings = [
    ["--http-port", options.httpPort, "http.port", config.http.port],
    ["--sftp-port", options.sftpPort, "sftp.port", config.sftp.port],
    ["--state-dir", asked, "stateDir", config.stateDir],
  ] as const;
  return settings
    .filter(([, wanted, , value]) => wanted !== undefined && wanted !== value)
    .map(
      ([option, wanted, setting, value]) =>
        `${option} ${wanted} was ignored: ${file} was there already, and ${setting} is ${value}; change it there`,
    );
}

/** As the configuration names it: relative when both are in one folder, so that they can be moved together. */
function stateDirText({ dir, stateDir = join(dir, "var"), configFile }: InitOptions): string {
  const path = relative(resolve(dir), resolve(stateDir));
  const isInside = path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
  if (configFile !== undefined || !isInside) return resolve(stateDir);
  return path === "" ? "." : `./${path}`;
}

async function ensureConfigFile(file: string, options: InitOptions): Promise<readonly string[]> {
  if (existsSync(file)) return [];
  await makeDirectoryDurably(resolve(options.dir));
  await makeDirectoryDurably(resolve(file, ".."));
  await writeFileDurably(file, configText(stateDirText(options), options));
  return [`configuration ${file}`];
}

async function ensureStateDir(stateDir: string): Promise<readonly string[]> {
  if (existsSync(stateDir)) return [];
  await makeDirectoryDurably(stateDir);
  // Whatever the umask says.
  await chmod(stateDir, 0o750);
  return [`state directory ${stateDir}`];
}

async function ensureKeys(config: Config) {
  const folder = join(config.stateDir, "keys");
  const options = { legacy: config.sftp.legacyAlgorithms };
  const missing = hostKeyFilesOf(folder, options).filter((file) => !existsSync(file));
  const keys = await ensureHostKeys(folder, options);
  return { keys, made: missing.map((file) => `SSH host key ${file}`) };
}

interface Account {
  readonly companyCode: string;
  readonly companyFolder: string;
  readonly generatedPassword?: string;
  readonly isPasswordRight?: boolean;
  readonly made: readonly string[];
}

async function isPasswordOfMember(store: AdminStore, { user, company }: InitOptions, password: string) {
  const member = (await findUsersByName(store.read, user)).find(({ memberships }) =>
    memberships.some((one) => isSameCompanyCode(one.companyCode, company)),
  );
  return await isPasswordOf(password, member?.passwordHash ?? null);
}

/** A user that is a member already stays as it is, with its roles and its password. */
async function ensureUser(
  store: AdminStore,
  options: InitOptions,
  password: string | undefined,
): Promise<Pick<Account, "generatedPassword" | "isPasswordRight" | "made">> {
  const { user: userName, company: companyCode } = options;
  const isMember = (user: userAdmin.ListedUser) =>
    user.userName === userName &&
    user.memberships.some((one) => isSameCompanyCode(one.companyCode, companyCode));
  if ((await userAdmin.listUsers({ store })).some(isMember)) {
    if (password === undefined) return { made: [] };
    return { made: [], isPasswordRight: await isPasswordOfMember(store, options, password) };
  }
  const added = await userAdmin.addUser(
    { store, clock: systemClock },
    { userName, companyCode, roles: ["DI_Integration"], ...given({ password }) },
  );
  const { generatedPassword } = added;
  const made = [`user ${userName} with the role DI_Integration`];
  return generatedPassword === undefined ? { made, isPasswordRight: true } : { generatedPassword, made };
}

async function ensureAccount(config: Config, options: InitOptions, password: string | undefined) {
  const use = async (store: AdminStore) => {
    const { code, isNew, folder } = await registerCompany(store, config, options.company);
    const user = await ensureUser(store, options, password);
    const made = [...(isNew ? [`company ${code} with its folders in ${folder}`] : []), ...user.made];
    return { ...user, companyCode: code, companyFolder: folder, made };
  };
  return await withAdminStore(config, use, { mayCreate: true });
}

/** A state that is made in it would have the files of another. */
async function refuseOpenRestore(stateDir: string): Promise<void> {
  if (!(await isRestoreOpen(stateDir))) return;
  throw new WrongUseError(
    `a restore to ${stateDir} is not done: run \`dropgate restore BACKUP --to ${stateDir}\` again, or name another folder`,
  );
}

/**
 * Rejects with a `DropgateError` or `WrongUseError` when a name or the password is not of the form; nothing is made then.
 */
export async function initialise(options: InitOptions): Promise<InitOutcome> {
  checkNames(options);
  const file = resolve(options.configFile ?? join(options.dir, "dropgate.yaml"));
  const password = await readPasswordFile(options.passwordFile);
  if (password !== undefined) checkPassword(password);
  const madeConfig = await ensureConfigFile(file, options);
  const { env } = process;
  const loaded = await loadConfig({ path: file, env, cwd: process.cwd(), needsSecrets: false });
  if (loaded.kind === "faulty") return { kind: "faulty", file, faults: loaded.faults };
  const { config } = loaded;
  await refuseOpenRestore(config.stateDir);
  await becomeOwnerOf(config.stateDir);
  const madeState = await ensureStateDir(config.stateDir);
  const { keys, made: madeKeys } = await ensureKeys(config);
  const account = await ensureAccount(config, options, password);
  const { host, port, enabled } = config.sftp;
  return {
    kind: "done",
    configFile: file,
    stateDir: config.stateDir,
    userName: options.user,
    ...account,
    hostKeyFingerprint: keys[0]?.fingerprint ?? "",
    http: httpAddressOf(config.http),
    ...(enabled ? { sftp: { host: localHostOf(host), port } } : {}),
    made: [...madeConfig, ...madeState, ...madeKeys, ...account.made],
    ignored: madeConfig.length > 0 ? [] : ignoredOptions(file, config, options),
  };
}
