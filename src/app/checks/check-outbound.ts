/** Checks of where files go out to: folders that can be written, files that can be read and, when asked for, servers. */
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { WithAlerts } from "../../config/alert-settings.ts";
import type { Config } from "../../config/schema.ts";
import { alertWayOf, operatorCode } from "../../domain/alerts/audience.ts";
import { channelOfTarget } from "../../domain/messages/message-event.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import type { OutboundTarget } from "../../store/outbound/outbound-targets.ts";
import { type CheckFinding, fine, problem, warning } from "../watch/check-finding.ts";
import { faultRemedies } from "../admin/fault-remedies.ts";
import { probeFolder, type ProbeFolder, probesAtOnce, silentText } from "./folder-probe.ts";
import { allTargetsOf, type AnyTargetConfig, createTarget } from "../daemon/outbound-targets.ts";
import { counted } from "../../lib/counted.ts";

interface CheckedTarget {
  readonly companyCode: string;
  readonly name: string;
  readonly settings: AnyTargetConfig;
}

function titleOf({ companyCode, name }: CheckedTarget): string {
  return `the target ${name} of ${companyCode}`;
}

async function checkFile(title: string, file: string, setting: string): Promise<readonly CheckFinding[]> {
  try {
    await access(file, constants.R_OK);
    return [];
  } catch (error) {
    const why = systemCodeOf(error) ?? messageOf(error);
    const remedy =
      "correct the path, or let the user of the daemon read the file; until then nothing is sent";
    return [problem(`${title}: ${setting} ${file} cannot be read (${why})`, remedy)];
  }
}

interface CheckedFolder {
  readonly title: string;
  readonly path: string;
  readonly mustBeMount: boolean;
}

function checkMount(what: string, isMounted: boolean, mustBeMount: boolean): CheckFinding {
  if (isMounted === mustBeMount) return fine(`${what} can be written`);
  if (mustBeMount)
    return warning(
      `${what}: nothing is mounted there (mustBeMount)`,
      "mount the share; until then files wait",
    );
  return warning(
    `${what} is a mount point: while nothing is mounted there, files would go into the empty folder`,
    "set mustBeMount: true, so that they wait instead",
  );
}

async function checkFolder(folder: CheckedFolder, probe: ProbeFolder): Promise<CheckFinding> {
  const { title, path, mustBeMount } = folder;
  const remedy = "make the folder, or let the user of the daemon write it; until then files wait";
  const found = await probe({ path, rights: constants.W_OK | constants.X_OK });
  const what = `${title}: ${path}`;
  switch (found.kind) {
    case "usable":
      return checkMount(what, found.isMountPoint, mustBeMount);
    case "notAFolder":
      return problem(`${what} is no folder`, remedy);
    // A share that is away at this moment is no reason for the daemon not to start.
    case "silent":
      return warning(
        silentText(what),
        "check that the server of the share runs, or mount it again; until then files wait",
      );
    case "failed":
    case "refused":
      return warning(`${what} cannot be used (${found.code})`, remedy);
  }
}

const fileSettings = ["ca", "certificate", "privateKey"] as const;

async function checkFiles(checked: CheckedTarget): Promise<readonly CheckFinding[]> {
  const { settings } = checked;
  const findings = [];
  for (const setting of fileSettings) {
    const value: unknown = Object.entries(settings).find(([name]) => name === setting)?.[1];
    if (typeof value === "string") findings.push(...(await checkFile(titleOf(checked), value, setting)));
  }
  return findings;
}

/** A target ends its attempt itself, and says what it was doing; who waits for it waits longer. */
const graceMs = 5_000;

async function checkReachable(checked: CheckedTarget, stateDir: string): Promise<CheckFinding> {
  const { settings, companyCode } = checked;
  const target = createTarget(settings, { stateDir, companyCode });
  try {
    const outcome = await target.probe(AbortSignal.timeout(settings.timeoutMs + graceMs));
    if (outcome.kind !== "failed") return fine(`${titleOf(checked)} can be reached and signed in to`);
    return problem(
      `${titleOf(checked)} cannot be used (${outcome.fault}): ${outcome.message}`,
      faultRemedies[outcome.fault],
    );
  } catch (error) {
    const remedy = "check that the server answers, or raise timeoutMs of the target";
    return problem(`${titleOf(checked)} could not be tried: ${messageOf(error)}`, remedy);
  } finally {
    await target.close();
  }
}

export interface OutboundCheckOptions {
  /** Tries targets on other machines too: connects and signs in, and leaves nothing behind. */
  readonly isRemote: boolean;
  readonly probe?: ProbeFolder;
}

async function checkOne(
  checked: CheckedTarget,
  stateDir: string,
  { isRemote, probe = probeFolder }: OutboundCheckOptions,
) {
  const { settings } = checked;
  if (settings.type === "folder") {
    const { path, mustBeMount } = settings;
    return path === undefined
      ? []
      : [await checkFolder({ title: titleOf(checked), path, mustBeMount }, probe)];
  }
  const files = await checkFiles(checked);
  if (!isRemote || files.length > 0) return files;
  return [await checkReachable(checked, stateDir)];
}

/** Where the configuration has a target of that name. */
function settingOf(companyCode: string, name: string): string {
  if (companyCode === operatorCode) return name;
  const isOfMessages = channelOfTarget(name) !== undefined || alertWayOf(name) !== undefined;
  return `companies.${companyCode}.${isOfMessages ? name : `outbound.targets.${name}`}`;
}

/** What waits for targets that are not in the configuration (any more): nothing is sent until they are there again. */
export function checkLeftTargets(
  config: WithAlerts,
  targets: readonly Pick<OutboundTarget, "companyCode" | "name" | "open">[],
): readonly CheckFinding[] {
  const left = targets.filter(
    ({ companyCode, name, open }) => open > 0 && !allTargetsOf(config, companyCode).has(name),
  );
  return left.map(({ companyCode, name, open }) => {
    const wait = counted(open, "delivery waits", "deliveries wait");
    const ofCompany = companyCode === operatorCode ? "" : ` --company ${companyCode}`;
    const remedy = `put ${settingOf(companyCode, name)} back and reload; \`dropgate deliveries${ofCompany} --target ${name}\` lists what waits`;
    return warning(
      `${wait} for the target ${name} of ${companyCode}, which is not in the configuration`,
      remedy,
    );
  });
}

/** Whether the targets of these companies can be used. */
export async function checkOutbound(
  config: WithAlerts & Pick<Config, "stateDir">,
  companyCodes: readonly string[],
  options: OutboundCheckOptions,
): Promise<readonly CheckFinding[]> {
  const all = [operatorCode, ...companyCodes].flatMap((companyCode) =>
    [...allTargetsOf(config, companyCode)].map(([name, settings]) => ({
      ...{ companyCode, name, settings },
    })),
  );
  const findings = await mapConcurrently(all, probesAtOnce, (checked) =>
    checkOne(checked, config.stateDir, options),
  );
  return findings.flat();
}
