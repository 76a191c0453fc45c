import { join } from "node:path";
import { againFolderName } from "../inbound/place-arrival.ts";
import { makeDirectoryDurably } from "../lib/durable-file.ts";
import { folderNames } from "./folder-rights.ts";

/** The dot-folder of `inbound/` under which unfinished uploads lie, one folder for each user. */
export const partialFolderName = ".partial";

/** Makes the folders of a company (mode 0750), durably. Running it again changes nothing. Returns the company's folder. */
export async function ensureCompanyTree(companiesDir: string, code: string): Promise<string> {
  const company = join(companiesDir, code);
  for (const name of folderNames) await makeDirectoryDurably(join(company, name));
  for (const name of [partialFolderName, againFolderName])
    await makeDirectoryDurably(join(company, "inbound", name));
  return company;
}
