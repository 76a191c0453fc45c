/** Rules of what is kept how long: ages of kinds that need one another, and the folder that old files are moved to. */
import { type Ages, isShorter, type RetentionKind } from "../../domain/retention/retention.ts";
import { agesOf, kindsOfKeepDays } from "../company-settings.ts";
import type { Config } from "../schema.ts";
import { isWithin, type RuleFault, when } from "./rule-fault.ts";

/** What must be kept as long as something else, and why. */
const needs: readonly (readonly [kind: RetentionKind, by: RetentionKind, why: string])[] = [
  ["ledger", "archive", "an entry of the ledger stays as long as its file"],
  ["ledger", "error", "an entry of the ledger stays as long as its file"],
  ["ledger", "receipts", "an entry of the ledger stays as long as its receipt"],
];

function faultsOf(ages: Ages, pathOf: (kind: RetentionKind) => string): RuleFault[] {
  return needs.flatMap(([kind, by, why]) =>
    when(isShorter(ages[kind], ages[by]), {
      path: pathOf(kind),
      otherPath: pathOf(by),
      message: `is ${ages[kind]}, shorter than ${pathOf(by)} (${ages[by]}): ${why}; lengthen it, or shorten ${pathOf(by)}`,
    }),
  );
}

function faultsOfCompany(config: Config, code: string): RuleFault[] {
  const { retention = {}, outbound } = config.companies[code] ?? {};
  const own = `companies.${code}.retention`;
  const pathOf = (kind: RetentionKind) =>
    (Object.hasOwn(retention, kind) ? own : "retention").concat(`.${kind}`);
  const both = kindsOfKeepDays.find((kind) => Object.hasOwn(retention, kind));
  return [
    ...(Object.keys(retention).length === 0 ? [] : faultsOf(agesOf(config, code), pathOf)),
    ...when(outbound?.keepDays !== undefined && both !== undefined, {
      path: `companies.${code}.outbound.keepDays`,
      otherPath: `${own}.${both}`,
      message: `says the same as ${own}.${both}; remove it, and set ${kindsOfKeepDays.join(", ")} in ${own}`,
    }),
  ];
}

function faultsOfFolder({ retention, stateDir, backup, companies }: Config): RuleFault[] {
  const { moveTo } = retention;
  if (moveTo === undefined) return [];
  const path = "retention.moveTo";
  const overlaps = (folder: string) => isWithin(moveTo, folder) || isWithin(folder, moveTo);
  const taken = Object.entries(companies).flatMap(([code, { folders }]) =>
    folders.map((folder, index) => ({ of: `companies.${code}.folders[${index}].path`, folder: folder.path })),
  );
  const others = [
    { of: "stateDir", folder: stateDir },
    ...(backup.folder === undefined ? [] : [{ of: "backup.folder", folder: backup.folder }]),
    ...taken,
  ];
  return others.flatMap(({ of, folder }) =>
    when(overlaps(folder), { path, message: `overlaps with ${of}; name a folder outside of it` }),
  );
}

/** Ages and folders that do not go together. */
export function checkRetention(config: Config): RuleFault[] {
  return [
    ...faultsOf(config.retention, (kind) => `retention.${kind}`),
    ...Object.keys(config.companies).flatMap((code) => faultsOfCompany(config, code)),
    ...faultsOfFolder(config),
  ];
}

/** Where a kind is set: for the company, by its older `keepDays`, or for all. */
function pathOfAge({ companies }: Config, code: string, kind: RetentionKind): string {
  const { retention = {}, outbound } = companies[code] ?? {};
  if (Object.hasOwn(retention, kind)) return `companies.${code}.retention.${kind}`;
  const isOfKeepDays = outbound?.keepDays !== undefined && kindsOfKeepDays.some((one) => one === kind);
  return isOfKeepDays ? `companies.${code}.outbound.keepDays` : `retention.${kind}`;
}

/** Documents that go while a partner may still have a file, or ask for one again, that refers to them. */
function warnOfDocuments(ages: Ages, pathOf: (kind: RetentionKind) => string): RuleFault[] {
  const [path, otherPath] = [pathOf("documents"), pathOf("outbound")];
  return when(isShorter(ages.documents, ages.outbound), {
    ...{ path, otherPath },
    message:
      `is ${ages.documents}, shorter than ${otherPath} (${ages.outbound}): what is sent again may refer to documents ` +
      `that are gone, which are answered with 404; lengthen it, or shorten ${otherPath}`,
  });
}

function warnOfDocumentsOfAll(config: Config): RuleFault[] {
  const ofSite = warnOfDocuments(config.retention, (kind) => `retention.${kind}`);
  const ofCompanies = Object.keys(config.companies).flatMap((code) =>
    warnOfDocuments(agesOf(config, code), (kind) => pathOfAge(config, code, kind)),
  );
  const isSaid = ({ path, otherPath }: RuleFault) =>
    ofSite.some((one) => one.path === path && one.otherPath === otherPath);
  return [...ofSite, ...ofCompanies.filter((fault) => !isSaid(fault))];
}

/** A folder that nothing is moved to, and documents that go before what refers to them. */
export function warnOfRetention(config: Config): RuleFault[] {
  return [...warnOfDocumentsOfAll(config), ...warnOfFolder(config)];
}

function warnOfFolder(config: Config): RuleFault[] {
  const all = [config.retention, ...Object.keys(config.companies).map((code) => agesOf(config, code))];
  const isUsed = all.some(({ archive, error, receipts }) =>
    [archive, error, receipts].some((age) => age !== "keep"),
  );
  return when(config.retention.moveTo !== undefined && !isUsed, {
    path: "retention.moveTo",
    message: "has no effect while archive, error and receipts are kept for ever; set one of them to days",
  });
}
