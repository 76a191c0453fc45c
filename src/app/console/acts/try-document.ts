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
import { ActRefused, type TrialAsked, type TrialDone } from "../../../endpoints/http/console/console-acts.ts";
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

interface TriedText extends Pick<TrialAsked, "name" | "text"> {
  readonly company: ConsoleCompany;
}

/** One after the other: each takes a thread, and the daemon has files to read. */
const oneAtATime = new ConcurrencyLimit(1);

/** Larger JSON is read in threads, where imports of hosts go. */
const maxJsonBytes = 256 * 1024;

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
    return { state, importKind: undefined, faults, changes, first: shown, underNewTime };
  } finally {
    await pool.stop(AbortSignal.abort());
  }
}

const refused: Omit<TrialDone, "faults"> = {
  ...{ state: "refused" as const, importKind: undefined, changes: [], first: undefined },
  underNewTime: undefined,
};

async function tryJson(context: ActContext, { company, text }: TriedText): Promise<TrialDone> {
  const bytes = Buffer.from(text);
  const { maxJsonDepth: maxDepth, maxJsonValues: maxValues, ...limits } = context.config().http;
  const { maxLoads, maxEntries, unknownFields } = limits;
  if (bytes.length > maxJsonBytes)
    return { ...refused, faults: [{ code: "tooLarge", message: words.trial.tooLarge(maxJsonBytes / 1024) }] };
  const body = parseJsonBytes(bytes, { maxDepth, maxValues });
  const importKind = importKindOf(body);
  if (importKind === undefined)
    return { ...refused, faults: [{ code: "emptyList", message: words.trial.noImport }] };
  const { id: companyId, code: companyCode } = company;
  const rules = { maxEntries, unknownFields };
  const input = { companyId, companyCode, body, rules, serviceName: "default" };
  const { faults, changes } = await tryImport({ importKind, input, maxLoads, store: context.store });
  return { ...refused, state: faults.length === 0 ? "accepted" : "refused", importKind, faults, changes };
}

/** Rejects with `ActRefused` for a company whose hosts the user has nothing to do with. */
export async function tryDocument(
  context: ActContext,
  user: ConsoleUser,
  asked: TrialAsked,
): Promise<TrialDone> {
  const company = companiesFor(user, "integrate").find(({ id }) => id === asked.companyId);
  if (company === undefined) throw new ActRefused("unknown", words.trial.noCompany);
  const { name, text } = asked;
  const tryIt = text.trimStart().startsWith("<") ? tryStop : tryJson;
  try {
    return await oneAtATime.run(() => tryIt(context, { company, name, text }));
  } catch (thrown) {
    // The faults of JSON that cannot be read at all.
    if (thrown instanceof DropgateError && thrown.code !== "internal" && thrown.code !== "overloaded")
      return { ...refused, faults: thrown.faults };
    throw thrown;
  }
}
