import { statSync } from "node:fs";
import { join } from "node:path";
import { againFolderName } from "../../inbound/places/place-arrival.ts";
import { makeDirectoryDurably } from "../../lib/files/durable-file.ts";
import { folderNames } from "./folder-rights.ts";

/** The dot-folder of `inbound/` under which unfinished uploads lie, one folder for each user. */
export const partialFolderName = ".partial";

function isFolderNow(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Makes the folders of a company (mode 0750), durably. Running it again changes nothing. Returns the company's folder. */
export async function ensureCompanyTree(companiesDir: string, code: string): Promise<string> {
  const company = join(companiesDir, code);
  const dotFolders = [partialFolderName, againFolderName].map((name) => join("inbound", name));
  for (const name of [...folderNames, ...dotFolders]) {
    const path = join(company, name);
    // On the spot: a start with a thousand companies asks seven thousand times, and hardly ever makes one.
    if (!isFolderNow(path)) await makeDirectoryDurably(path);
  }
  return company;
}
