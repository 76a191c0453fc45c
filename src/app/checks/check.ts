/** `dropgate check`: the configuration against the real world. Changes nothing and does not disturb a running daemon. */
import { formatConfigFaults } from "../../config/reader/config-fault.ts";
import type { LoadOutcome } from "../../config/load-config.ts";
import { checkSharedTree } from "./check-tree.ts";
import { nodePlaceOf } from "../../config/node-place.ts";
import type { Config } from "../../config/schema.ts";
import { messageOf } from "../../lib/errors.ts";
import { isPassingStoreError } from "../../lib/store-error.ts";
import { becomeOwnerOf } from "../admin/admin-store.ts";
import { checkBackups } from "./check-backups.ts";
import { checkCertificates, checkPartnerCertificates } from "./check-certificates.ts";
import { type CheckFinding, fine, problem, warning } from "../watch/check-finding.ts";
import { checkCompanyFolders, checkStateDir } from "./check-folders.ts";
import { checkGrowth } from "./check-growth.ts";
import { checkIntegrations } from "./check-integrations.ts";
import { checkOperators } from "./check-operators.ts";
import { checkLeftTargets, checkOutbound } from "./check-outbound.ts";
import { checkRemotes } from "./check-remotes.ts";
import { checkMoveTo } from "./check-retention.ts";
import {
  checkConfigFile,
  checkDaemon,
  type CheckedStore,
  checkHostKeys,
  checkPorts,
  checkSchemas,
  checkStore,
  checkZones,
  findDaemon,
} from "./check-programs.ts";
import { checkUnits } from "./check-units.ts";

const configRemedy = "correct it; docs/configuration.md lists all settings";

/** A check that fails for an unexpected reason is reported as a problem, and the others still run. */
async function guarded(what: string, check: () => Promise<readonly CheckFinding[]>, report = problem) {
  try {
    return await check();
  } catch (error) {
    // The database went away meanwhile, and a start waits for it.
    const say = isPassingStoreError(error) ? warning : report;
    return [say(`${what} could not be checked: ${messageOf(error)}`, "see the message")];
  }
}

/** Nothing where the database cannot be asked. */
async function growthOf(config: Config, { companies, targets }: CheckedStore) {
  const find = async () => (companies === undefined ? [] : await checkGrowth({ config, targets }));
  return await guarded("the growth of the state", find, warning);
}

/** When the disks are full, and nothing else; empty where the database cannot be asked. Never rejects. */
export async function checkGrowthAlone(config: Config): Promise<readonly CheckFinding[]> {
  return await growthOf(config, await checkStore(config));
}

async function operatorsFindings(config: Config, { companies }: CheckedStore) {
  return companies === undefined ? [] : await checkOperators(config, companies);
}

async function checkWorld(
  config: Config,
  configFile: string,
  isRemote: boolean,
): Promise<readonly CheckFinding[]> {
  // Root can write everywhere, which says nothing about the daemon.
  await becomeOwnerOf(config.stateDir);
  const daemon = await findDaemon(nodePlaceOf(config).nodeDir);
  const store = await checkStore(config);
  return [
    checkDaemon(daemon),
    ...(await guarded("the state directory", () => checkStateDir(config))),
    ...store.findings,
    ...(await guarded("the tree of the nodes", () => checkSharedTree(config, store.companies !== undefined))),
    ...(await growthOf(config, store)),
    ...(await guarded("the backups", () => checkBackups(config, store.lastBackup, store.backupState))),
    ...(await guarded("retention.moveTo", () => checkMoveTo(config))),
    ...(await guarded("the folders", () => checkCompanyFolders(config, store.companies))),
    ...(await guarded("the unit", () => checkUnits(config, configFile), warning)),
    ...(await guarded("the targets", () => checkOutbound(config, store.companies ?? [], { isRemote }))),
    ...checkLeftTargets(config, store.targets),
    ...(await guarded("the remotes", () => checkRemotes(config, store.companies ?? [], isRemote))),
    ...(await guarded("the integrations", () => checkIntegrations(config, store.companies))),
    ...(await guarded("the operators of the console", () => operatorsFindings(config, store), warning)),
    ...(await guarded("the ports", () => checkPorts(config, daemon))),
    ...(await guarded("the host keys", () => checkHostKeys(config))),
    ...(await guarded("TLS", () => checkCertificates(config))),
    ...(await guarded("the certificates of targets", () =>
      checkPartnerCertificates(config, store.companies ?? []),
    )),
    ...(await guarded("the schemas", checkSchemas)),
    checkZones(),
  ];
}

/** What another version of the program can find different: the database and what it brings itself. */
async function checkUpgrade(config: Config): Promise<readonly CheckFinding[]> {
  await becomeOwnerOf(config.stateDir);
  const { findings } = await checkStore(config, problem);
  return [...findings, ...(await guarded("the schemas", checkSchemas)), checkZones()];
}

/**
 * All findings, whether or not the configuration could be loaded. `remote` tries servers on other machines too; `upgrade`
 * asks only what another version of the program can find different.
 */
export async function checkAll(
  loaded: LoadOutcome,
  { remote = false, upgrade = false }: { readonly remote?: boolean; readonly upgrade?: boolean } = {},
): Promise<readonly CheckFinding[]> {
  const node = fine(`Node.js ${process.version}`);
  const toText = (fault: Parameters<typeof formatConfigFaults>[0][number]) =>
    formatConfigFaults([fault], loaded.file ?? "");
  if (loaded.kind === "faulty")
    return [node, ...loaded.faults.map((fault) => problem(toText(fault), configRemedy))];
  return [
    node,
    fine(`the configuration ${loaded.file} is valid`),
    ...(await guarded("the configuration", () => checkConfigFile(loaded.file))),
    ...loaded.warnings.map((fault) => warning(toText(fault), "see the message")),
    ...(await (upgrade ? checkUpgrade(loaded.config) : checkWorld(loaded.config, loaded.file, remote))),
  ];
}
