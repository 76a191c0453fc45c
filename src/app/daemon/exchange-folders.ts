import { join } from "node:path";

export interface ExchangeFolders {
  /** Holds one folder for each company code. */
  readonly companiesDir: string;
  /** Where earlier versions kept their journal of uploads. */
  readonly journalDir: string;
}

/** The folders of the file exchange in a state directory. */
export function exchangeFoldersOf(stateDir: string): ExchangeFolders {
  return { companiesDir: join(stateDir, "companies"), journalDir: join(stateDir, "journal") };
}
