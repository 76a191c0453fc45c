/** A store of each test, and how SQLite runs the statements of a query in it. */
import { afterEach, beforeEach } from "vitest";
import type { Store } from "../../src/store/database/database.ts";
import { openFreshStore } from "./fresh-store.ts";
import { plansOf } from "./query-plans.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface PlannedStore extends Pick<Store, "read" | "write"> {
  /** Each step of the plans of all statements that the work runs. */
  plan(work: () => Promise<unknown>): Promise<readonly string[]>;
}

/** Opened before each test of the file, and closed after it. */
export function plannedStoreOfEachTest(): PlannedStore {
  let current: { readonly store: Store; readonly stateDir: string } | undefined;
  const given = () => {
    if (current === undefined) throw new Error("no test is running");
    return current;
  };
  beforeEach(async () => {
    const stateDir = temporaryFolder();
    current = { store: await openFreshStore(stateDir), stateDir };
  });
  afterEach(() => given().store.close());
  return {
    get read() {
      return given().store.read;
    },
    write: (owner, work) => given().store.write(owner, work),
    plan: (work) => plansOf({ read: given().store.read, stateDir: given().stateDir }, work),
  };
}
