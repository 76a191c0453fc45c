/** What stands in a file, and what became of it in the stop. */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  FileContentAsked,
  FileContentFound,
} from "../../../endpoints/http/console/pages/file/file-view.ts";
import { whereabouts } from "../../../inbound/explain/tell-file.ts";
import { createLocations } from "../../../inbound/places/locations.ts";
import { readFileContent } from "../content/file-content.ts";
import { formsOfFile } from "../content/file-forms.ts";
import type { QueryContext } from "../query-context.ts";
import { entryOfReference, fileLinkOf } from "./ledger-links.ts";

/** The content of the file of that reference; undefined when there is none that the user may see. */
export async function queryFileContent(
  context: QueryContext,
  scope: Scope,
  { reference, fromLine }: FileContentAsked,
): Promise<FileContentFound | undefined> {
  const found = await entryOfReference(context, scope, reference);
  if (found === undefined) return undefined;
  const { entry } = found;
  const locations = createLocations(context.stateDir);
  const { path, presence } = await whereabouts({ locations }, entry);
  const faultLines = entry.faults.flatMap(({ line }) => (line === undefined ? [] : [line]));
  const asked = { fromLine, faultLines, size: entry.size };
  const linkOf = (one: typeof entry) => fileLinkOf(context, one);
  return {
    content: presence === "there" ? await readFileContent(path, asked) : { kind: "absent", presence },
    forms: await formsOfFile({ read: context.read, locations, linkOf }, entry),
  };
}
