/** Drop folders from which nothing can be taken at the moment, for `dropgate explain`. */
import { constants } from "node:fs";
import type { SearchedFolder } from "../../inbound/recovery/find-loose-files.ts";
import { isMissing } from "../../lib/errors.ts";
import type { ForeignFault } from "./foreign-looks.ts";
import { type FolderProbe, type ProbeFolders, probeFolders, silentText } from "./folder-probe.ts";

const missing =
  "make the folder, mount the share, or take it out of the configuration (companies.<CODE>.folders)";
const noRight = "give the user of the daemon the right to list the folder and to write into it";

/** What a drop folder is used for: it is listed, and files are removed from it. */
const rights = constants.R_OK | constants.W_OK | constants.X_OK;

function faultOf(probe: FolderProbe): string | undefined {
  switch (probe.kind) {
    case "usable":
      return undefined;
    case "notAFolder":
      return `it is not a folder: ${missing}`;
    case "silent":
      return `${silentText("it")}, so it is not searched: check that the server of the share runs, or mount it again`;
    case "failed":
    case "refused":
      if (probe.code === "EROFS")
        return "EROFS: its file system is read-only: mount it so that it can be written";
      return `${probe.code}: ${isMissing(probe) ? missing : noRight}`;
  }
}

function faultLine({ path, companyCode }: SearchedFolder, fault: string): string {
  return `Nothing is taken from ${path} (company ${companyCode}): ${fault}.`;
}

/** A line for each drop folder that did not answer, or could not be searched, after it had answered its probe. */
export function dropFolderFaults(
  folders: readonly SearchedFolder[],
  faults: ReadonlyMap<string, ForeignFault>,
): readonly string[] {
  return folders.flatMap((folder) => {
    const fault = folder.isInbox ? undefined : faults.get(folder.path);
    const text = fault && faultOf(fault);
    return text === undefined ? [] : [faultLine(folder, text)];
  });
}

export interface ProbedDropFolders {
  /** Those that have answered, whatever they have answered, and the companies' own. */
  readonly answering: readonly SearchedFolder[];
  /** A line for each folder that cannot be used, as the user of this process sees it. */
  readonly faultLines: readonly string[];
}

/** Probes the drop folders among these. */
export async function probeDropFolders(
  folders: readonly SearchedFolder[],
  probe: ProbeFolders = probeFolders,
): Promise<ProbedDropFolders> {
  const dropFolders = folders.filter(({ isInbox }) => !isInbox);
  const found = await probe(dropFolders.map(({ path }) => ({ path, rights })));
  const silent = new Set(dropFolders.filter((_, place) => found[place]?.kind === "silent"));
  return {
    answering: folders.filter((folder) => !silent.has(folder)),
    faultLines: dropFolders.flatMap((folder, place) => {
      const fault = faultOf(found[place] ?? { kind: "silent" });
      return fault === undefined ? [] : [faultLine(folder, fault)];
    }),
  };
}
