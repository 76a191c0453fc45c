/** The page for host developers: try a document, see the last receipts, copy a sample. */
import type { Answer } from "../../../server/answer.ts";
import { importKinds } from "../../../../../domain/fields/import-kind.ts";
import { given } from "../../../../../lib/given.ts";
import { largestTriedImport, type TrialDone } from "../../console-acts.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { companiesFor, type ConsoleCompany } from "../../console-user.ts";
import { sizeText } from "../../kit/amounts.ts";
import { areaField, hiddenField, selectField, submitButton, textField } from "../../kit/fields.ts";
import { type Html, html } from "../../kit/html.ts";
import { addresses } from "../../kit/link.ts";
import { page } from "../../kit/page.ts";
import { section } from "../../kit/section.ts";
import { words } from "../../words/words.ts";
import { receiptsSection } from "./hosts-receipts.ts";
import { samplesSection } from "./hosts-samples.ts";
import { trialResult } from "./trial-result.ts";

const text = words.hosts;

/** What was put into the form, and what came of it. */
interface Tried {
  readonly name: string;
  readonly sent: string;
  /** As they stand in the form; empty for none. */
  readonly service: string;
  readonly as: string;
  readonly error?: string;
  readonly result?: TrialDone;
}

const nothingTried: Tried = { name: "", sent: "", service: "", as: "" };

/** The company that is asked for, or the first one; the dispatcher has seen that there is one. */
function companyOf(request: ConsoleRequest, fields: URLSearchParams): ConsoleCompany {
  const companies = companiesFor(request.user, "integrate");
  const company = companies.find(({ code }) => code === fields.get("company")) ?? companies[0];
  if (company === undefined) throw new Error("a page for hosts was asked for without a company");
  return company;
}

function companyField(request: ConsoleRequest, company: ConsoleCompany): Html {
  const companies = companiesFor(request.user, "integrate");
  if (companies.length === 1) return hiddenField("company", company.code);
  return selectField({
    ...{ name: "company", label: text.company, value: company.code },
    options: companies.map(({ code }) => [code, code]),
  });
}

/** Nothing where the company has no custom integration. */
function serviceFields({ service, as }: Tried, integrations: readonly string[]): Html {
  if (integrations.length === 0) return html``;
  const names = integrations.map((name) => [name, name] as const);
  const kinds = importKinds.map((kind) => [kind, text.importKinds[kind]] as const);
  return html`${selectField({
    ...{ name: "service", label: text.service, hint: text.serviceHint, value: service },
    options: [["", text.noService], ...names],
  })}${selectField({
    ...{ name: "as", label: text.as, value: as },
    options: [["", text.asItIs], ...kinds],
  })}`;
}

function trialForm(
  services: ConsoleServices,
  request: ConsoleRequest,
  { company, tried, integrations }: TrialShown,
): Html {
  const action = addresses(services).at("/hosts/trial", { of: request.query.get("of") ?? undefined });
  const file = html`<div class="field scripted" hidden><label for="trial-file">${text.file}</label><input type="file" id="trial-file" data-into="field-text" data-name="field-name" accept=".xml,.json,text/xml,application/json"></div>`;
  return html`<form method="post" action="${action}">${hiddenField("formToken", request.user.formToken)}<p>${text.tryIntro}</p>${companyField(
    request,
    company,
  )}${file}${areaField({
    ...{ name: "text", label: text.text, hint: text.textHint, value: tried.sent, rows: 12, isCode: true },
    ...{ error: tried.error, isRequired: true },
  })}${textField({
    ...{ name: "name", label: text.name, hint: text.nameHint, value: tried.name, maxLength: 255 },
    autocomplete: "off",
  })}${serviceFields(tried, integrations)}<div class="buttons">${submitButton(text.tryIt)}</div></form>`;
}

interface TrialShown {
  readonly company: ConsoleCompany;
  readonly tried: Tried;
  readonly integrations: readonly string[];
}

async function hostsPage(
  services: ConsoleServices,
  request: ConsoleRequest,
  { company, tried }: { readonly company: ConsoleCompany; readonly tried: Tried },
): Promise<Answer> {
  const { user } = request;
  const ofAll = request.query.get("of") === "company";
  const scope = { companies: companiesFor(user, "integrate"), isOperator: user.isOperator };
  const before = request.query.get("before") ?? undefined;
  const whose = { companyId: company.id, userName: ofAll ? undefined : user.userName };
  const asked = { ...whose, ...given({ before }) };
  const found = await services.ask("hosts", scope, asked);
  if (found === undefined) throw new Error("the company of a page for hosts is not in its scope");
  const content = html`<p>${text.intro}</p>
${tried.result === undefined ? "" : trialResult(tried.result)}
${section(text.tryTitle, trialForm(services, request, { company, tried, integrations: found.integrations }), { id: "trial" })}
${receiptsSection(services, request, { company, found, ofAll })}
${samplesSection(services, user, { company, servers: services.servers() })}`;
  return page(services, request, {
    ...{ title: text.title, here: "hosts", content },
    status: tried.error === undefined ? 200 : 422,
  });
}

/** XML with escapes takes up to three times its size in a form. */
const largestForm = 3 * 1024 * 1024;

const otherEncoding = /^(\s*<\?xml[^>]*?)\s+encoding=(?!["']utf-8["'])(?:"[^"]*"|'[^']*')/i;

/** A form gives line ends of its own, and a text is Unicode, whatever encoding its first line names. */
function plainText(sent: string): string {
  return sent.replaceAll("\r\n", "\n").replace(otherEncoding, "$1");
}

/** Why the text is not tried at all: that says nothing about what would become of it. */
function faultOf(plain: string, service: string): string | undefined {
  if (plain.trim() === "") return text.textMissing;
  if (service !== "" || plain.trimStart().startsWith("<")) return undefined;
  const bytes = Buffer.byteLength(plain);
  return bytes > largestTriedImport
    ? text.importTooLarge(sizeText(bytes), largestTriedImport / 1024)
    : undefined;
}

export const hostsRoutes: readonly ConsoleRoute[] = [
  {
    access: "console",
    name: "consoleHosts",
    method: "GET",
    path: "/console/hosts",
    who: "integrate",
    run: (services, request) =>
      hostsPage(services, request, { company: companyOf(request, request.query), tried: nothingTried }),
  },
  {
    access: "console",
    name: "consoleHostsTrial",
    method: "POST",
    path: "/console/hosts/trial",
    who: "integrate",
    maxFormBytes: largestForm,
    async run(services, request) {
      const company = companyOf(request, request.form);
      const [sent, name] = [request.form.get("text") ?? "", (request.form.get("name") ?? "").trim()];
      const [service, as] = [request.form.get("service") ?? "", request.form.get("as") ?? ""];
      const tried = { name, sent: sent.replaceAll("\r\n", "\n"), service, as };
      const plain = plainText(sent);
      const error = faultOf(plain, service);
      if (error !== undefined)
        return await hostsPage(services, request, { company, tried: { ...tried, error } });
      const asked = {
        ...{ companyId: company.id, name, text: plain },
        service: service === "" ? undefined : service,
        as: importKinds.find((kind) => kind === as),
      };
      const result = await services.look("host.trial", request.user, asked);
      return await hostsPage(services, request, { company, tried: { ...tried, result } });
    },
  },
];
