import { expect } from "vitest";
import { itOnSqlite } from "../../../test/support/store-dialect.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { openStore } from "../../store/database/database.ts";
import { listNodes, orderNode } from "./node-admin.ts";

itOnSqlite(
  "on SQLite there are no nodes: one process has the state directory, and that is said",
  async () => {
    const stateDir = temporaryFolder();
    const store = await openStore(stateDir);
    await store.close();
    const words = "one process has this state directory";
    await expect(listNodes({ stateDir })).rejects.toThrow(words);
    await expect(orderNode({ stateDir }, { name: "one", isToDrain: true })).rejects.toThrow(words);
  },
);
