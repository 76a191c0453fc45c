/** Exports with what their manifests say, and their delivery once more. */
import { given } from "../../../../../lib/given.ts";
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { type ConsoleUser, companiesFor } from "../../console-user.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { page } from "../../kit/page.ts";
import { pager } from "../../kit/pager.ts";
import { facts } from "../../kit/section.ts";
import { code, shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { namedActRoutes } from "../acts/named-act.ts";
import { lookScope } from "../look-scope.ts";
import type { ShownExport } from "./deliveries-view.ts";
import { stateOf } from "./delivery-parts.ts";

const said = words.deliveries.exports;
const rowsOfPage = 50;

/** As its manifest says it. */
export function exportFacts(made: ShownExport): Html {
  const { columns } = said;
  return facts([
    [columns.name, said.named(made.name, made.sequenceNbr)],
    [columns.madeAt, timeText(made.madeAt)],
    [columns.stops, made.count],
    [columns.window, said.window(made.afterCompletion, made.lastCompletion)],
    [columns.files, html`${code(made.file)} ${code(made.manifest)}`],
  ]);
}

function newestDelivery({ delivery }: ShownExport, to: Addresses): Content {
  if (delivery === null) return said.gone;
  return link(to.delivery(delivery.guid), stateOf({ ...delivery, isGivenUp: false }));
}

function againAddress({ company, name, sequenceNbr }: ShownExport, to: Addresses): string {
  const parts = [company, name].map(encodeURIComponent).join("/");
  return to.at(`/exports/${parts}/${sequenceNbr}/again`);
}

function actsOf(made: ShownExport, user: ConsoleUser, to: Addresses): Content {
  const mayAct = companiesFor(user, "act").some(({ code: company }) => company === made.company);
  return mayAct && made.delivery !== null ? link(againAddress(made, to), said.again) : undefined;
}

/** The place that the address names; undefined for the first page, and for what is no place. */
function placeIn(query: URLSearchParams): number | undefined {
  const text = query.get("before") ?? "";
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

async function showExports(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { user, query } = request;
  const to = addresses(services);
  const company = query.get("company") ?? undefined;
  const asked = { limit: rowsOfPage, ...given({ company, before: placeIn(query) }) };
  const { exports, before } = await services.ask("exports", lookScope(user), asked);
  const { columns } = said;
  const rows = exports.map((made) => [
    html`${shortened(said.named(made.name, made.sequenceNbr), 80)} <span class="company">${made.company}</span>`,
    timeText(made.madeAt),
    made.count,
    said.window(made.afterCompletion, made.lastCompletion),
    html`${code(made.file)} ${code(made.manifest)}`,
    newestDelivery(made, to),
    actsOf(made, user, to),
  ]);
  const head = [
    ...[columns.name, columns.madeAt, { text: columns.stops, isNumber: true }, columns.window],
    ...[columns.files, columns.delivery, columns.acts],
  ];
  return page(services, request, {
    ...{ title: said.title, here: "deliveries" },
    content: [
      table(head, rows, { caption: said.caption, empty: said.empty, id: "exports" }),
      pager({
        first: query.has("before") ? to.at("/exports", { company }) : undefined,
        next: before === null ? undefined : to.at("/exports", { company, before }),
      }),
    ],
  });
}

export const exportsPage: ConsoleRoute = {
  ...{ access: "console", name: "consoleExports", method: "GET", path: "/console/exports", who: "look" },
  run: showExports,
};

/** The number of the address; 0, which no export has, when it is none. */
function sequenceNbrOf({ params }: ConsoleRequest): number {
  const text = params["number"] ?? "";
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
}

export const exportActs: readonly ConsoleRoute[] = namedActRoutes({
  ...{ routeName: "consoleExport.again", path: "/console/exports/{company}/{name}/{number}/again" },
  ...{ here: "deliveries", back: "/exports", done: "exportAgain", label: said.again, ...said.act },
  async preview(services, request, { company, name }) {
    const asked = { company: company.code, name, sequenceNbr: sequenceNbrOf(request) };
    const made = await services.ask("export", lookScope(request.user), asked);
    return made === undefined ? undefined : exportFacts(made);
  },
  act: (services, request, { company, name, reason, seenAt }) =>
    services.act(
      "export.again",
      { user: request.user, companyId: company.id, reason },
      { name, seenAt, sequenceNbr: sequenceNbrOf(request) },
    ),
});
