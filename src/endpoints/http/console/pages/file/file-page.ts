/** Page 4: one file: what happened to it, why, and what to do; what was sent, and what came of it. */
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { companiesFor, scopeFor } from "../../console-user.ts";
import { addresses } from "../../kit/link.ts";
import { page } from "../../kit/page.ts";
import { words } from "../../words/words.ts";
import { notFoundPage } from "../not-found-page.ts";
import { contentSection, formsSection } from "./file-content-section.ts";
import {
  aboutSection,
  deliveriesSection,
  explainedSection,
  formerSection,
  namesakesSection,
  receiptSection,
  sameStopSection,
} from "./file-sections.ts";
import { timeLineSection } from "./file-time-line.ts";
import type { FileContentFound, FileFound } from "./file-view.ts";

/** The line that the address asks for, and nothing when that is no number of a line. */
function fromLineOf({ query }: ConsoleRequest): number | undefined {
  const text = query.get("line") ?? "";
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** Whoever sees the content is kept before it is shown. */
async function noteSeen(services: ConsoleServices, request: ConsoleRequest, file: FileFound): Promise<void> {
  const { name, reference, companyId } = file;
  await services.noteSeen({ user: request.user, companyId, subject: { kind: "file", name, reference } });
}

function shownFile(
  services: ConsoleServices,
  request: ConsoleRequest,
  { file, content }: { readonly file: FileFound; readonly content: FileContentFound },
): Answer {
  const to = addresses(services);
  const mayAct = companiesFor(request.user, "act").some(({ id }) => id === file.companyId);
  return page(services, request, {
    ...{ title: file.name, here: "files", trail: [] },
    content: [
      explainedSection(file, { to, mayAct }),
      aboutSection(file, to),
      timeLineSection(file),
      contentSection(file, content, to),
      formsSection(file, content, to),
      receiptSection(file),
      deliveriesSection(file, to),
      namesakesSection(file, to),
      sameStopSection(file, to),
      formerSection(file),
    ],
  });
}

export const filePage: ConsoleRoute = {
  ...{
    access: "console",
    name: "console file",
    method: "GET",
    path: "/console/files/{reference}",
    who: "look",
  },
  async run(services, request) {
    const { reference = "" } = request.params;
    const scope = scopeFor(request.user);
    const file = await services.ask("file", scope, { reference });
    const asked = { reference, fromLine: fromLineOf(request) };
    const content = file === undefined ? undefined : await services.ask("fileContent", scope, asked);
    if (file === undefined || content === undefined)
      return notFoundPage(services, request, { text: words.notFound.file });
    if (content.content.kind === "shown" || content.forms.kind === "shown")
      await noteSeen(services, request, file);
    return shownFile(services, request, { file, content });
  },
};
