import { describe, expect, it, onTestFinished } from "vitest";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { consoleUser } from "../../endpoints/http/console/testing/viewer.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import { listAudit } from "../../store/accounts/audit-lists.ts";
import type { Store } from "../../store/database/database.ts";
import { createSeenNotes } from "./note-seen.ts";

async function site() {
  const store = await openFreshStore(temporaryFolder());
  onTestFinished(() => store.close());
  const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
  const { id: companyId } = company;
  const rows = async () => {
    const found = await listAudit(store.read, { companyIds: [companyId], limit: 10 });
    return found.map(({ kind, subject, userName, at }) => ({ kind, subject, userName, at }));
  };
  const subject = { kind: "file" as const, name: "a.xml", reference: "r-1" };
  return { store, rows, seen: { user: consoleUser(), companyId, subject } };
}

const clock = { now: () => 1_700_000_000_000 };

describe("content that is looked at", () => {
  it("is noted once for each session, however often and at once it is asked for", async () => {
    const { store, rows, seen } = await site();
    const note = createSeenNotes({ store, clock });
    await Promise.all([note(seen), note(seen)]);
    await note(seen);
    const entry = { kind: "content.seen", subject: "file a.xml r-1", userName: "anna", at: clock.now() };
    expect(await rows()).toEqual([entry]);
    await note({ ...seen, user: consoleUser({ sessionName: "session-2" }) });
    expect(await rows()).toEqual([entry, entry]);
  });

  it("is not shown when it cannot be noted, and noted when it is asked for again", async () => {
    const { store, rows, seen } = await site();
    let isFull = true;
    const write: Store["write"] = (whose, work) =>
      isFull ? Promise.reject(new Error("the disk is full")) : store.write(whose, work);
    const note = createSeenNotes({ store: { read: store.read, write }, clock });
    await expect(note(seen)).rejects.toThrow("the disk is full");
    isFull = false;
    await note(seen);
    expect(await rows()).toHaveLength(1);
  });
});
