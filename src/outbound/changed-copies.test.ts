import { sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { insertCompany } from "../store/accounts/companies.ts";
import { openStore, type Store } from "../store/database/database.ts";
import type { Transaction } from "../store/database/groups/group-commit.ts";
import { type OutboundCopy, saveOutboundCopy } from "../store/outbound/outbound-targets.ts";
import { changedOutboundCopies } from "./changed-copies.ts";

const messages = {
  events: { 7001: { channels: ["sms"], tellsEta: true } },
  etaMovedMs: 1,
  zone: "UTC",
} as const;

function copyOf(companyId: number): OutboundCopy {
  const targets = [
    { name: "host", takesCompletions: true },
    { name: "archive", takesCompletions: false },
  ];
  return { companyId, targets, events: [8100, 7009, 8100], embedsDocuments: true, messages };
}

async function openCompanies(): Promise<{ store: Store; copies: readonly OutboundCopy[] }> {
  const store = await openStore(temporaryFolder());
  onTestFinished(() => store.close());
  const ids: number[] = [];
  for (const code of ["ACME", "BETA"])
    ids.push((await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }))).company.id);
  return { store, copies: ids.map(copyOf) };
}

async function save(tx: Transaction, copies: readonly OutboundCopy[]): Promise<readonly number[]> {
  const changed = await changedOutboundCopies(tx, copies);
  for (const copy of changed) await saveOutboundCopy(tx, copy);
  return changed.map(({ companyId }) => companyId);
}

describe("the copy of the configuration", () => {
  it("is written for new companies, and not again", async () => {
    const { store, copies } = await openCompanies();
    expect(await store.write("site", (tx) => save(tx, copies))).toEqual([1, 2]);
    expect(await store.write("site", (tx) => save(tx, copies))).toEqual([]);
  });

  it("of a company with nothing that goes out is written once, too", async () => {
    const { store } = await openCompanies();
    const nothing = [{ companyId: 1, targets: [], events: [], embedsDocuments: false }];
    expect(await store.write("site", (tx) => save(tx, nothing))).toEqual([1]);
    expect(await store.write("site", (tx) => save(tx, nothing))).toEqual([]);
  });

  const changes: Readonly<Record<string, (copy: OutboundCopy) => OutboundCopy>> = {
    "a target more": (copy) => ({
      ...copy,
      targets: [...copy.targets, { name: "new", takesCompletions: true }],
    }),
    "a target less": (copy) => ({ ...copy, targets: copy.targets.slice(1) }),
    "a target that takes completions now": (copy) => ({
      ...copy,
      targets: copy.targets.map(({ name }) => ({ name, takesCompletions: true })),
    }),
    "an event more": (copy) => ({ ...copy, events: [...copy.events, 7004] }),
    "an event less": (copy) => ({ ...copy, events: [8100] }),
    "documents apart": (copy) => ({ ...copy, embedsDocuments: false }),
    "no messages": (copy) => ({ ...copy, messages: undefined }),
    "messages in another zone": (copy) => ({ ...copy, messages: { ...messages, zone: "Europe/Berlin" } }),
  };

  it.each(Object.entries(changes))(
    "is written for the one company that has %s, and back",
    async (_title, change) => {
      const { store, copies } = await openCompanies();
      await store.write("site", (tx) => save(tx, copies));
      const [first, ...others] = copies;
      if (first === undefined) throw new Error("there is no company");
      const changed = [change(first), ...others];
      expect(await store.write("site", (tx) => save(tx, changed))).toEqual([first.companyId]);
      expect(await store.write("site", (tx) => save(tx, changed))).toEqual([]);
      expect(await store.write("site", (tx) => save(tx, copies))).toEqual([first.companyId]);
    },
  );

  it("is written where a target is paused, so that it is tried at once", async () => {
    const { store, copies } = await openCompanies();
    await store.write("site", (tx) => save(tx, copies));
    await store.write("site", (tx) =>
      sql`update outbound_targets set paused_until = 5 where company_id = 2 and name = 'host'`.execute(tx),
    );
    expect(await store.write("site", (tx) => save(tx, copies))).toEqual([2]);
    const paused = await sql`select 1 from outbound_targets where paused_until > 0`.execute(store.read);
    expect(paused.rows).toEqual([]);
  });
});
