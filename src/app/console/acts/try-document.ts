/**
 * What would become of a stop document or of an import that a host developer gives: the very decision, in a unit of work that
 * is then undone. A stop document is read in a thread of its own, which keeps nothing of it.
 */
import { companySettingsOf } from "../../../config/company-settings.ts";
import { createDocumentPool, type DocumentPool } from "../../../documents/pool/document-pool.ts";
import {
  companiesFor,
  type ConsoleCompany,
  type ConsoleUser,
} from "../../../endpoints/http/console/console-user.ts";
import {
  ActRefused,
  largestTriedImport,
  type TrialAsked,
  type TrialDone,
} from "../../../endpoints/http/console/console-acts.ts";
import { words } from "../../../endpoints/http/console/words/words.ts";
import { ConcurrencyLimit } from "../../../lib/concurrency.ts";
import { DropgateError } from "../../../lib/errors.ts";
import { parseJsonBytes } from "../../../lib/json-text.ts";
import { createLogger } from "../../../lib/logs/log.ts";
import { importKindOf, tryImport } from "../../admin/imports/import-trial.ts";
import type { ReadableDocument } from "../../admin/stops/stop-change.ts";
import { type TriedStop, tryStopDocument } from "../../admin/stops/stop-trial.ts";
import { documentPoolOptionsOf } from "../../daemon/part-options.ts";
import type { ActContext } from "../act-context.ts";

interface TriedText extends Pick<TrialAsked, "name" | "text" | "as"> {
  readonly company: ConsoleCompany;
}

/** What only imports have. */
const noImport = { importKind: undefined, entities: [], untried: 0, mapped: undefined };

const refused: Omit<TrialDone, "faults"> = {
  ...{ ...noImport, state: "refused" as const, changes: [], first: undefined },
  underNewTime: undefined,
};

/** One after the other: each takes a thread, and the daemon has files to read. */
const oneAtATime = new ConcurrencyLimit(1);

/** More of it is read by nobody on a page. */
const shownMapped = 32_000;

async function readDocument(pool: DocumentPool, text: string): Promise<ReadableDocument> {
  const document = await pool.prepareBytes(Buffer.from(text));
  if (document.kind === "unreadable") throw new DropgateError("internal", document.message);
  return document;
}

/** Reads and decides. A form keeps no line ends: a file that came before may have had those of Windows. */
async function decide(
  context: ActContext,
  pool: DocumentPool,
  { company, name, text }: TriedText,
): Promise<TriedStop> {
  const { names, lateFiles } = companySettingsOf(context.config(), company.code);
  const isNamed = name !== "";
  const trial = {
    ...{ name: isNamed ? name : "document.xml", company, ledgerNumbers: context.ledgerNumbers },
    rules: { names: isNamed ? names : ("lenient" as const), lateFiles },
  };
  const tryText = async (form: string) =>
    await tryStopDocument(context.store, { ...trial, document: await readDocument(pool, form) });
  const tried = await tryText(text);
  if (!tried.faults.some(({ code }) => code === "nameReused")) return tried;
  const again = await tryText(text.replaceAll("\n", "\r\n"));
  return again.state === "duplicate" ? again : tried;
}

async function tryStop(context: ActContext, asked: TriedText): Promise<TrialDone> {
  const log = createLogger({ level: "silent" });
  const pool = createDocumentPool({ ...documentPoolOptionsOf(context.config(), log), threads: 1 });
  await pool.start(new AbortController().signal);
  try {
    const { state, faults, changes, first, underNewTime } = await decide(context, pool, asked);
    const shown = first === undefined ? undefined : { state: first.state, decidedAt: first.decidedAt };
    return { ...noImport, state, faults, changes, first: shown, underNewTime };
  } finally {
    await pool.stop(AbortSignal.abort());
  }
}

async function tryJson(
  context: ActContext,
  { company, text, as }: Pick<TriedText, "company" | "text" | "as">,
): Promise<TrialDone> {
  const bytes = Buffer.from(text);
  const { maxJsonDepth: maxDepth, maxJsonValues: maxValues, ...limits } = context.config().http;
  const { maxLoads, maxEntries, unknownFields } = limits;
  if (bytes.length > largestTriedImport)
    return {
      ...refused,
      faults: [{ code: "tooLarge", message: words.trial.tooLarge(largestTriedImport / 1024) }],
    };
  const body = parseJsonBytes(bytes, { maxDepth, maxValues });
  const importKind = as ?? importKindOf(body);
  if (importKind === undefined)
    return { ...refused, faults: [{ code: "emptyList", message: words.trial.noImport }] };
  const { id: companyId, code: companyCode } = company;
  const rules = { maxEntries, unknownFields };
  const input = { companyId, companyCode, body, rules, serviceName: "default" };
  const tried = await tryImport({ importKind, input, maxLoads, store: context.store });
  return { ...refused, ...tried, state: tried.faults.length === 0 ? "accepted" : "refused", importKind };
}

/** What the integration makes of the text is tried: by the very processes that map what hosts send. */
async function tryMapped(context: ActContext, asked: TriedText, service: string): Promise<TrialDone> {
  const { integrations } = context;
  const { company, text, as } = asked;
  const found = integrations.find(service, company.code);
  if (found === undefined)
    return { ...refused, faults: [{ code: "unknownService", message: words.trial.noService(service) }] };
  if (found.input !== formOf(text))
    return {
      ...refused,
      faults: [{ code: "mediaType", message: words.trial.otherForm(service, found.input) }],
    };
  const { maxJsonDepth: maxDepth, maxJsonValues: maxValues } = context.config().http;
  const mapping = { serviceName: service, companyCode: company.code, importKind: as ?? "stops", maxDepth };
  const made = await integrations.mapToText({ ...mapping, maxValues, bytes: Buffer.from(text) });
  const mapped = made.length > shownMapped ? `${made.slice(0, shownMapped)}…` : made;
  try {
    return { ...(await tryJson(context, { company, as, text: made })), mapped };
  } catch (thrown) {
    return { ...refused, faults: faultsOf(thrown), mapped };
  }
}

/** What is wrong with the text; all else is thrown on. */
function faultsOf(thrown: unknown): TrialDone["faults"] {
  if (thrown instanceof DropgateError && thrown.code !== "internal" && thrown.code !== "overloaded")
    return thrown.faults;
  throw thrown;
}

function formOf(text: string): "json" | "xml" {
  return text.trimStart().startsWith("<") ? "xml" : "json";
}

/** Rejects with `ActRefused` for a company whose hosts the user has nothing to do with. */
export async function tryDocument(
  context: ActContext,
  user: ConsoleUser,
  asked: TrialAsked,
): Promise<TrialDone> {
  const company = companiesFor(user, "integrate").find(({ id }) => id === asked.companyId);
  if (company === undefined) throw new ActRefused("unknown", words.trial.noCompany);
  const { service, ...tried } = { ...asked, company };
  const tryIt = () => {
    if (service !== undefined) return tryMapped(context, tried, service);
    return formOf(asked.text) === "xml" ? tryStop(context, tried) : tryJson(context, tried);
  };
  try {
    return await oneAtATime.run(tryIt);
  } catch (thrown) {
    return { ...refused, faults: faultsOf(thrown) };
  }
}
