/** How the folders stand that files are taken out of, by their last scans. */
import { basename } from "node:path";
import type { FolderStanding, WhyLeft } from "../../../domain/files/folder-standing.ts";
import {
  type ConsoleCompany,
  type ConsoleUser,
  companiesFor,
} from "../../../endpoints/http/console/console-user.ts";
import type { ShownFolder } from "../../../endpoints/http/console/pages/remotes/remotes-view.ts";
import type { ActContext } from "../act-context.ts";

/** What the system says of a fault names places of the machine: the code says as much to who is no operator. */
function whyShown(why: WhyLeft): WhyLeft {
  return why.kind === "failed" ? { ...why, reason: why.systemCode } : why;
}

function shownOf(
  { companyId: _, ...standing }: FolderStanding,
  { company, noRoom, isOperator }: { company: string; noRoom: string | undefined; isOperator: boolean },
): ShownFolder {
  const { path, isInbox, fault, files } = standing;
  const shownPath = isInbox ? `${basename(path)}/` : path;
  if (isOperator) return { ...standing, company, noRoom, path: shownPath };
  return {
    ...{ ...standing, company, noRoom, path: isInbox ? shownPath : basename(path) },
    fault: fault && { ...fault, reason: fault.systemCode },
    files: files.map((file) => ({ ...file, why: whyShown(file.why) })),
  };
}

/** Those of the companies at which the user may look, in the order of their codes. */
export async function lookAtFolders(
  { folders, intake }: Pick<ActContext, "folders" | "intake">,
  user: ConsoleUser,
): Promise<readonly ShownFolder[]> {
  const { isOperator } = user;
  const foldersOf = async ({ id, code }: ConsoleCompany) => {
    const noRoom = await intake.whyNoRoom({ id, code });
    return folders.standings(id).map((standing) => shownOf(standing, { company: code, noRoom, isOperator }));
  };
  return (await Promise.all(companiesFor(user, "look").map(foldersOf))).flat();
}
