/** Drop folders from which nothing can be taken at the moment, for `dropgate explain`. */
import { access, constants, opendir } from "node:fs/promises";
import type { SearchedFolder } from "../../inbound/recovery/find-loose-files.ts";
import { isMissing, systemCodeOf } from "../../lib/errors.ts";

const missing =
  "make the folder, mount the share, or take it out of the configuration (companies.<CODE>.folders)";
const noRight = "give the user of the daemon the right to list the folder and to write into it";

async function faultOf({ path }: SearchedFolder): Promise<string | undefined> {
  try {
    await (await opendir(path)).close();
    await access(path, constants.W_OK);
    return undefined;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    if (code === "EROFS") return `EROFS: its file system is read-only: mount it so that it can be written`;
    return `${code}: ${isMissing(error) ? missing : noRight}`;
  }
}

/** A line for each folder that cannot be used, as the user of this process sees it. */
export async function folderFaultLines(folders: readonly SearchedFolder[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const folder of folders) {
    if (folder.isInbox) continue;
    const fault = await faultOf(folder);
    if (fault !== undefined)
      lines.push(`Nothing is taken from ${folder.path} (company ${folder.companyCode}): ${fault}.`);
  }
  return lines;
}
