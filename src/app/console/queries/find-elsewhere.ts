/** Where something could be of which nothing is known: the same places that `dropgate explain` looks into, and its words. */
import { basename } from "node:path";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import { forgottenText } from "../../../domain/retention/pruned-text.ts";
import { parseStopFileName } from "../../../domain/files/stop-file-name.ts";
import { readSubject, type Subject, tellLoose } from "../../../inbound/explain/explain.ts";
import { isPattern, tellRemoteFiles, tellUntaken } from "../../../inbound/explain/explain-elsewhere.ts";
import { looseText } from "../../../inbound/explain/explain-words.ts";
import { remoteFileLines, whyUntakenText } from "../../../inbound/explain/elsewhere-words.ts";
import type { UntakenOfRemote } from "../../../inbound/remotes/untaken-files.ts";
import { listForgotten } from "../../../store/ledger/entry-retention.ts";
import { listCompanies } from "../../../store/accounts/companies.ts";
import { heldReportOf } from "./held-report-of.ts";
import type { QueryContext } from "../query-context.ts";
import { explainDeps } from "./file.ts";
import type { ScopedCompany } from "./ledger-links.ts";

/** Companies are looked into until so much of the time is left. */
const reserveMs = 600;

async function inCompany(
  context: QueryContext,
  {
    company,
    subject,
    untaken,
  }: { company: ScopedCompany; subject: Subject; untaken: readonly UntakenOfRemote[] },
): Promise<readonly string[]> {
  const whole = (await listCompanies(context.read)).find(({ id }) => id === company.id);
  if (whole === undefined) return [];
  const nothing = { known: [], isSent: false };
  const loose = await tellLoose(explainDeps(context, company), whole, subject, nothing);
  const noted = await tellRemoteFiles(context.read, whole, subject.fileName);
  const waiting = tellUntaken(untaken, company.code, subject);
  return [
    ...loose.map((file) => `${basename(file.path)}, company ${company.code}: ${looseText(file, true)}`),
    ...noted.map((file) => remoteFileLines(file).join(": ")),
    ...waiting.map(
      (file) =>
        `${file.name}, company ${company.code}, lies on the remote ${file.remote}: ${whyUntakenText(file)}`,
    ),
  ];
}

async function forgottenLines({ read }: QueryContext, { companies }: Scope): Promise<readonly string[]> {
  const forgotten = await listForgotten(read);
  const seen = new Set(companies.map(({ code }) => code));
  return forgotten
    .filter(({ company }) => seen.has(company))
    .slice(0, 3)
    .map((one) => `A file of it may be known no longer: ${forgottenText(one)}.`);
}

/** What is to be told of a text that nothing is known by. */
export async function tellElsewhere(
  context: QueryContext,
  scope: Scope,
  text: string,
): Promise<readonly string[]> {
  const subject = readSubject(text);
  const found: string[] = [];
  if (!isPattern(subject.fileName)) {
    const untaken = (await heldReportOf(context))?.remotes ?? [];
    for (const company of scope.companies) {
      if (context.timeLeftMs() < reserveMs) break;
      found.push(...(await inCompany(context, { company, subject, untaken })));
    }
  }
  const name = parseStopFileName(subject.fileName);
  const isFaulty = subject.stopNbr === undefined && name.kind === "wrong";
  const fault = isFaulty ? [`The name is not of the form: ${name.why}.`] : [];
  return [...found, ...fault, ...(await forgottenLines(context, scope))];
}
