/** Rules of what goes out: settings of a target, an export or a company that do not go together. */
import { recordedEvents } from "../../domain/outbound/recorded-events.ts";
import { outboundSettingsOf, targetNameOf } from "../company-settings.ts";
import { checkServer, warnOfHostKeys } from "./check-server.ts";
import {
  checkPair,
  checkTimes,
  checkWebServer,
  isWithin,
  ofEachCompany,
  type Placed,
  placedIn,
  type RuleFault,
  when,
} from "./rule-fault.ts";
import type { Config, ExportConfig, OutboundConfig, TargetConfig } from "../schema.ts";

const stopEvents = Object.values(recordedEvents).filter(({ name }) => !name.startsWith("LOAD "));
const stopEventCodes: ReadonlySet<number> = new Set(stopEvents.map(({ code }) => code));

function checkEvents({ on }: OutboundConfig, path: string): RuleFault[] {
  const known = stopEvents.map(({ code, name }) => `${code} (${name})`).join(", ");
  return on.flatMap((code, index) =>
    when(!stopEventCodes.has(code), {
      path: `${path}.on[${index}]`,
      message: `${code} is not an event of a stop; use one of ${known}`,
    }),
  );
}

function checkTarget({ settings, path }: Placed<TargetConfig>): RuleFault[] {
  if (settings.type === "https")
    return [...checkWebServer(settings, path), ...checkPair(settings, path, ["certificate", "privateKey"])];
  if (settings.type !== "folder") return checkServer({ settings, path });
  return when(settings.mustBeMount && settings.path === undefined, {
    path: `${path}.mustBeMount`,
    message: "has no effect without path; set the folder at which the share is mounted, or remove it",
  });
}

/** Folders that belong to nobody else: files that go out must not come in again, nor lie between those of the state. */
function checkTargetFolders(config: Config): RuleFault[] {
  const firstUse = new Map<string, string>();
  const faults: RuleFault[] = [];
  for (const [code, { folders }] of Object.entries(config.companies)) {
    for (const [index, folder] of folders.entries())
      firstUse.set(folder.path, `companies.${code}.folders[${index}].path`);
  }
  for (const { settings, path } of targetsOf(config)) {
    if (settings.type !== "folder" || settings.path === undefined) continue;
    const at = `${path}.path`;
    const first = firstUse.get(settings.path);
    if (first !== undefined)
      faults.push({ path: at, message: `is the same folder as ${first}; take another` });
    firstUse.set(settings.path, first ?? at);
    if (isWithin(settings.path, config.stateDir) || isWithin(config.stateDir, settings.path)) {
      const message = "overlaps with stateDir; leave path out to use the company's own outbound/";
      faults.push({ path: at, message });
    }
  }
  return faults;
}

function targetsOf(config: Config): Placed<TargetConfig>[] {
  return ofEachCompany(config, "outbound", ({ targets }, path) => placedIn(targets, `${path}.targets`));
}

function checkExportTarget(
  { settings, path }: Placed<ExportConfig>,
  targets: ReadonlyMap<string, TargetConfig>,
): RuleFault[] {
  const name = targetNameOf(settings.target);
  const type = targets.get(name)?.type;
  return [
    ...when(type === undefined, {
      path: `${path}.target`,
      message: `there is no target ${name}; there is ${[...targets.keys()].join(", ")}`,
    }),
    ...when(type === "https" && settings.form === "files", {
      path: `${path}.form`,
      message: `files need a folder, which ${name} (https) does not have; take document, or another target`,
    }),
  ];
}

function checkExports(config: Config, code: string): RuleFault[] {
  const { targets, exports } = outboundSettingsOf(config, code);
  return [...exports].flatMap(([name, settings]) => {
    const path = `companies.${code}.outbound.exports.${name}`;
    return [...checkTimes(settings, path), ...checkExportTarget({ settings, path }, targets)];
  });
}

/** What cannot work. */
export function checkOutboundSettings(config: Config): RuleFault[] {
  return [
    ...ofEachCompany(config, "outbound", checkEvents),
    ...targetsOf(config).flatMap(checkTarget),
    ...Object.keys(config.companies).flatMap((code) => checkExports(config, code)),
    ...checkTargetFolders(config),
  ];
}

/** What will not work as it is. */
export function warnOfOutboundSettings(config: Config): RuleFault[] {
  const withoutKeys =
    "nothing is sent; add the fingerprint of the server's host key, which `dropgate delivery show` prints after the first attempt";
  return targetsOf(config).flatMap((target) => warnOfHostKeys(target, withoutKeys));
}
