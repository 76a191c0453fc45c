/** What is late of the files that companies expect: just those that page 1 counts. */
import { alertKind } from "../../../../../domain/alerts/alert-kinds.ts";
import { channelText } from "../../../../../inbound/explain/file-words.ts";
import { isSameCompanyCode } from "../../../../../domain/users/company-code.ts";
import { isoTime } from "../../../../../lib/iso-time.ts";
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { type ConsoleUser, companiesFor } from "../../console-user.ts";
import { countText } from "../../kit/amounts.ts";
import { type Content, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { remedy } from "../../kit/notice.ts";
import { page } from "../../kit/page.ts";
import { shortened, shown } from "../../kit/shown-text.ts";
import { type Row, table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import type { CompanyStanding, LateExpectation } from "../../live/standing.ts";
import { words } from "../../words/words.ts";
import { moveOfLate } from "./concerns.ts";

const said = words.today.lateArrivals;

/** Which files count for it, in words. */
function countedFiles({ files: { name, channel, user } }: LateExpectation): Content {
  const parts = [
    name === undefined ? undefined : said.named(name),
    channel === undefined ? undefined : channelText(channel),
    user === undefined ? undefined : said.from(user),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? said.any : shown(parts.join(", "));
}

/** As the alert of it says: operators have the commands of this machine. */
function whatToDo({ isOperator }: Pick<ConsoleUser, "isOperator">): string {
  const kind = alertKind("lateArrivals");
  return isOperator || kind.scope === "operator" ? kind.remedy : kind.companyRemedy;
}

function rowOf(
  { companyCode: company, failing }: CompanyStanding,
  late: LateExpectation,
  to: Addresses,
): Row {
  const { name, beginsAt, dueAt, arrived, atLeast, files } = late;
  const since = { company, from: isoTime(beginsAt).slice(0, 10), ...files };
  return [
    html`${shown(name)}<br><small>${words.move.short[moveOfLate(files.channel, failing)]}</small>`,
    shortened(company, 40),
    countedFiles(late),
    timeText(beginsAt),
    timeText(dueAt),
    html`${said.come(countText(arrived), countText(atLeast))}<br><small>${link(to.at("/files", since), said.came)}</small>`,
  ];
}

/** Of the companies that the viewer sees, or of one of them. */
function ownCompanies(
  { user, query }: ConsoleRequest,
  companies: ReadonlyMap<number, CompanyStanding>,
): readonly CompanyStanding[] {
  const asked = query.get("company") ?? "";
  return companiesFor(user, "look")
    .filter(({ code }) => asked === "" || isSameCompanyCode(code, asked))
    .flatMap(({ id }) => companies.get(id) ?? []);
}

async function showLate(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const to = addresses(services);
  const { companies } = await services.live.standing();
  const rows = ownCompanies(request, companies).flatMap((standing) =>
    standing.late.map((one) => rowOf(standing, one, to)),
  );
  const { name, company, counted, since, due, come } = said.head;
  const head = [name, company, counted, since, due, { text: come, isNumber: true }];
  const options = { caption: said.title, isCaptionHidden: true, empty: said.none };
  return page(services, request, {
    ...{ title: said.title, here: "today", trail: [{ text: words.today.title, href: to.at("") }] },
    content: html`<p>${said.explained}</p>${rows.length === 0 ? "" : remedy(whatToDo(request.user))}${table(head, rows, options)}`,
  });
}

export const lateRoute: ConsoleRoute = {
  access: "console",
  name: "consoleLate",
  method: "GET",
  path: "/console/late",
  who: "look",
  run: showLate,
};
