/**
 * The integrations of the configuration; and what one of them makes of a file, and what its import would say
 * (`imports/import-trial.ts`).
 */
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Config } from "../../config/schema.ts";
import type { ImportKindName } from "../../domain/fields/import-kind.ts";
import type { Integration } from "../../integrations/integration.ts";
import { Integrations } from "../../integrations/integrations.ts";
import { DropgateError, messageOf, reasonCodeOf, unlessMissing } from "../../lib/errors.ts";
import { createLogger } from "../../lib/logs/log.ts";
import type { Company } from "../../store/accounts/companies.ts";
import { requireCompany } from "./admin.ts";
import { type AdminStore, findStore, withAdminStore } from "./admin-store.ts";
import { importKindOf, tryImport } from "./imports/import-trial.ts";
import { type FileReason, toReason } from "./file-view.ts";
import { formatIntegrationFaults, readIntegrations } from "../daemon/read-integrations.ts";
import { WrongUseError } from "./wrong-use-error.ts";

export interface TriedIntegration {
  readonly integration: string;
  readonly file: string;
  /** What was made of the file; undefined when nothing was. */
  readonly document?: unknown;
  /** What the import is; undefined when the document has not been made or none of the lists of imports. */
  readonly importKind?: ImportKindName;
  readonly reasons: readonly FileReason[];
  readonly durationMs: number;
  /** A remark for the administrator. */
  readonly note?: string;
}

export interface IntegrationTrial {
  readonly name: string;
  readonly file: string;
  /** What the import is; without it, by the list that the document has. */
  readonly as?: ImportKindName;
  readonly company?: string;
}

/** Stands for a company when there is none yet. */
const nobody: Company = { id: 0, code: "DEMO", createdAt: 0, profile: {} };

function reasonsOf(thrown: unknown): readonly FileReason[] {
  if (!(thrown instanceof DropgateError)) throw thrown;
  return thrown.faults.map(toReason);
}

async function readBody(file: string): Promise<Buffer> {
  const path = resolve(file);
  const stats = await stat(path).catch(unlessMissing);
  if (stats === undefined) throw new WrongUseError(`there is no file ${file}: correct the path`);
  if (!stats.isFile()) throw new WrongUseError(`${file} is no file: name the file with the body`);
  return await readFile(path).catch((error: unknown) => {
    throw new WrongUseError(`${file} cannot be read: ${messageOf(error)}`);
  });
}

async function requireIntegration(config: Config, name: string): Promise<Integration> {
  const settings = Object.hasOwn(config.integrations, name) ? config.integrations[name] : undefined;
  if (settings === undefined) {
    const names = Object.keys(config.integrations).join(", ");
    const known = names === "" ? "there is none in the configuration" : `there is ${names}`;
    throw new WrongUseError(`there is no integration ${name}: ${known}`);
  }
  const read = await readIntegrations({ integrations: { [name]: settings } });
  if (read.kind === "faulty") throw new WrongUseError(formatIntegrationFaults(read.faults));
  const integration = read.integrations.get(name);
  if (integration === undefined) throw new Error("an integration was read and is not there");
  return integration;
}

interface Mapped {
  readonly document?: unknown;
  readonly reasons: readonly FileReason[];
  readonly durationMs: number;
}

async function mapFile(integration: Integration, trial: IntegrationTrial, rest: Mapping): Promise<Mapped> {
  const { name } = integration;
  const log = createLogger({ level: "silent" });
  const integrations = new Integrations({
    integrations: new Map([[name, integration]]),
    log,
    processes: 1,
  });
  const { companyCode, bytes, maxDepth } = rest;
  const importKind = trial.as ?? "stops";
  const began = performance.now();
  try {
    const document = await integrations.map({ serviceName: name, companyCode, importKind, bytes, maxDepth });
    return { document, reasons: [], durationMs: Math.round(performance.now() - began) };
  } catch (thrown) {
    return { reasons: reasonsOf(thrown), durationMs: Math.round(performance.now() - began) };
  } finally {
    await integrations.stop(AbortSignal.abort());
  }
}

interface Mapping {
  readonly companyCode: string;
  readonly bytes: Buffer;
  readonly maxDepth: number;
}

interface Tried {
  readonly config: Config;
  readonly trial: IntegrationTrial;
  readonly bytes: Buffer;
}

async function tryFor(
  { config, trial, bytes }: Tried,
  company: Company,
  store: AdminStore | undefined,
): Promise<TriedIntegration> {
  const { name, file } = trial;
  const { maxLoads, maxEntries, unknownFields, maxJsonDepth: maxDepth } = config.http;
  const integration = await requireIntegration(config, name);
  // For a company that may not use it, the answer is the one that company gets.
  const own = { ...integration, companies: store === undefined ? undefined : integration.companies };
  const mapping = { companyCode: company.code, bytes, maxDepth };
  const { document, reasons, durationMs } = await mapFile(own, trial, mapping);
  const tried = { integration: name, file, durationMs };
  if (reasons.length > 0) return { ...tried, reasons };
  const importKind = trial.as ?? importKindOf(document);
  if (importKind === undefined) {
    const note = "the document has neither loads, stops nor orders: say with --as which import it is for";
    return { ...tried, document, reasons: [{ reasonCode: reasonCodeOf("emptyList"), message: note }] };
  }
  const rules = { maxEntries, unknownFields };
  const body = { companyId: company.id, companyCode: company.code, body: document, rules };
  const input = { ...body, serviceName: "default" };
  const { faults } = await tryImport({ importKind, input, maxLoads, store });
  const note = store === undefined ? { note: "there is no company yet: only the form was checked" } : {};
  return { ...tried, document, importKind, reasons: faults.map(toReason), ...note };
}

/** Maps the file and tries the import, against the state of this moment. Changes nothing. */
export async function tryIntegration(config: Config, trial: IntegrationTrial): Promise<TriedIntegration> {
  // Read before the store is opened: as root, the file may be for root alone.
  const bytes = await readBody(trial.file);
  const tried = { config, trial, bytes };
  if (findStore(config) === "none" && trial.company === undefined)
    return await tryFor(tried, nobody, undefined);
  return await withAdminStore(config, async (store) => {
    const company = await requireCompany(store, trial.company);
    if (company === undefined) return await tryFor(tried, nobody, undefined);
    return await tryFor(tried, company, store);
  });
}

export interface IntegrationView {
  readonly name: string;
  readonly input: "json" | "xml";
  readonly file: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** Null: all. */
  readonly companies: readonly string[] | null;
  /** What is wrong with its expression; null when it compiles. */
  readonly fault: string | null;
}

/** In the order of the configuration. */
export async function listIntegrations(config: Config): Promise<readonly IntegrationView[]> {
  const views: IntegrationView[] = [];
  for (const [name, settings] of Object.entries(config.integrations)) {
    const read = await readIntegrations({ integrations: { [name]: settings } });
    const fault = read.kind === "faulty" ? formatIntegrationFaults(read.faults) : null;
    views.push({ name, ...settings, companies: settings.companies ?? null, fault });
  }
  return views;
}
