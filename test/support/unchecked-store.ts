import { type OpenOptions, openStore, type Store } from "../../src/store/database/database.ts";

/**
 * A store whose units are run once: for faults that come at one run of a unit and not at the next, and for databases with
 * several writers, whose numbers a check would give a second time.
 */
export async function openUncheckedStore(directory: string, options: OpenOptions = {}): Promise<Store> {
  const before = process.env["DROPGATE_CHECK_UNITS"];
  process.env["DROPGATE_CHECK_UNITS"] = "0";
  try {
    return await openStore(directory, options);
  } finally {
    if (before === undefined) delete process.env["DROPGATE_CHECK_UNITS"];
    else process.env["DROPGATE_CHECK_UNITS"] = before;
  }
}
