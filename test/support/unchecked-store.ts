import { openStore, type Store } from "../../src/store/database/database.ts";

/** A store whose units are run once, for faults that come at one run of a unit and not at the next. */
export async function openUncheckedStore(directory: string): Promise<Store> {
  const before = process.env["DROPGATE_CHECK_UNITS"];
  process.env["DROPGATE_CHECK_UNITS"] = "0";
  try {
    return await openStore(directory);
  } finally {
    process.env["DROPGATE_CHECK_UNITS"] = before;
  }
}
