/** The files of the filter as CSV, from one place of the list on; so many that the answer stays small. */
import { given } from "../../../../../lib/given.ts";
import { isoOrNull } from "../../../../../lib/iso-time.ts";
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { scopeFor } from "../../console-user.ts";
import { type CsvCell, csvAnswer, csvRows } from "../../kit/csv.ts";
import { addresses } from "../../kit/link.ts";
import { seeOther } from "../../kit/page.ts";
import { filterQuery, readFilter } from "./files-filter.ts";
import type { ListedFile } from "./files-view.ts";

/** Names of columns are for programs: they stay as they are in every language. */
const head = [
  ...["reference", "company", "name", "state", "stopNbr", "receivedAt", "decidedAt", "channel", "user"],
  ...["size", "sha256", "reasonCode", "reason", "remedy", "pruned"],
];

function rowOf(file: ListedFile): readonly CsvCell[] {
  const { reference, company, name, state, stopNbr, receivedAt, decidedAt, channel, user } = file;
  const { size, sha256, reason, remedy, pruned } = file;
  return [
    ...[reference, company, name, state, stopNbr, isoOrNull(receivedAt), isoOrNull(decidedAt), channel, user],
    ...[size, sha256, reason?.code ?? null, reason?.message ?? null, remedy, pruned],
  ];
}

async function downloadFiles(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { user, query } = request;
  const { filter, texts } = readFilter(query);
  if (filter === undefined) return seeOther(addresses(services).at("/files", filterQuery(texts)));
  const rows = csvRows<string>(async (before, limit) => {
    const asked = { filter, limit, isCounted: false, ...given({ before }) };
    const found = await services.ask("files", scopeFor(user), asked);
    return { rows: found.files.map(rowOf), next: found.before ?? undefined };
  }, query.get("before") ?? undefined);
  return csvAnswer("files.csv", head, rows);
}

export const filesCsv: ConsoleRoute = {
  access: "console",
  name: "console files as CSV",
  method: "GET",
  path: "/console/files.csv",
  who: "look",
  run: downloadFiles,
};
