/** What is told of a name that stands for something else than a file of the ledger. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { plansOf } from "../../../test/support/query-plans.ts";
import { itOnSqlite } from "../../../test/support/store-dialect.ts";
import { contentPath } from "../../lib/files/content-store.ts";
import { addDelivery } from "../../store/outbound/deliveries.ts";
import { findDelivery } from "../../store/outbound/delivery-queries.ts";
import { saveOutboundCopy } from "../../store/outbound/outbound-targets.ts";
import { noteSeen, noteTaken } from "../../store/ledger/remote-files.ts";
import { saveDocuments } from "../../store/stops/documents.ts";
import { ledgerOfEachTest, sha256Of } from "../testing/ledger-fixture.ts";
import { tellOf } from "../testing/told-explanation.ts";
import type { UntakenFile, UntakenOfRemote } from "../remotes/untaken-files.ts";

const name = "4711_20261105_080000.xml";
const at = Date.UTC(2026, 10, 5, 11);

const fixture = ledgerOfEachTest();
const tell = (subject: string, options?: Parameters<typeof tellOf>[2]) => tellOf(fixture, subject, options);

describe("of a GUID is told", () => {
  it("the document that it names, with where its content is, or that it is lost", async () => {
    const { store, companyId, locations } = fixture;
    const guid = "0198f0c0-0000-7000-8000-00000000000a";
    const document = { guid, sha256: sha256Of("x"), size: 1, name: "photo.jpg" };
    await store.write("site", (tx) => saveDocuments(tx, { companyId, documents: [document], now: at }));
    const path = contentPath(locations.documentsDirectory, document.sha256);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "x");
    const told = await tell(guid.toUpperCase());
    expect(told).toContain(`Document ${guid}, company ACME\n  photo.jpg, 1 bytes, SHA-256 ${sha256Of("x")}`);
    expect(told).toContain(`Its content is there: ${path}`);
    rmSync(path);
    expect(await tell(guid)).toContain("ITS CONTENT IS NOT THERE: restore it from a backup");
    const other = await fixture.company("OTHER");
    expect(await tell(guid, { companyId: other })).toContain("Found in another company: ACME.");
  });

  it("the delivery that its receiver knows by it; of a folder that does not answer, that nothing is known of it", async () => {
    const { store, companyId, stateDir } = fixture;
    await store.write("site", async (tx) => {
      const targets = [{ name: "erp", takesCompletions: true }];
      await saveOutboundCopy(tx, { companyId, targets, events: [], embedsDocuments: false });
      const line = { companyId, targetId: 1, orderKey: "nightly", subjectId: 1, now: at };
      await addDelivery(tx, { ...line, kind: "export", name: "acme_nightly_000012.xml" });
      await tx.updateTable("deliveries").set({ state: "delivered", delivered_at: at }).execute();
    });
    const guid = (await findDelivery(store.read, 1))?.guid ?? "";
    expect(await tell(guid)).toContain(
      `It is not there any more: ${join(stateDir, "outbound", "acme_nightly_000012.xml")}.`,
    );
    const silent = await tell(guid, { isTargetSilent: true });
    expect(silent).toContain("Whether it is still there is not known:");
    expect(silent).toContain("its folder does not answer: check that the server of the share runs");
  });
});

describe("of a file of a remote is told", () => {
  const note = async (state: "taken" | "seen") => {
    const { store, companyId } = fixture;
    const key = { companyId, remote: "partner" };
    const files = [{ name, size: 7, modified: "", sha256: "x" }];
    await store.write(companyId, (tx) => noteTaken(tx, key, { files, at }));
    if (state === "seen") await store.write(companyId, (tx) => noteSeen(tx, key, [name]));
  };

  it.each([
    ["taken", "It is in inbound/ or in the ledger; then it is removed or moved there."],
    ["seen", "It stays there, and is not taken again as long as it does not change."],
  ] as const)("that was %s: when, and what becomes of it there", async (state, words) => {
    await note(state);
    expect(await tell(name)).toContain(
      `${name}, company ACME, of the remote partner\n  Fetched 2026-11-05T11:00:00.000Z, 7 bytes. ${words}`,
    );
  });

  const remote = (...files: readonly UntakenFile[]): { readonly untaken: readonly UntakenOfRemote[] } => ({
    untaken: [{ company: "ACME", remote: "partner", nextPollAt: at + 60_000, files, more: 3 }],
  });

  it.each<readonly [UntakenFile["why"], string]>([
    [
      { kind: "settling", unchangedSince: at },
      "It is not fetched yet: it has been the same since 2026-11-05T11:00:00.000Z",
    ],
    [{ kind: "behind", before: "x.xml" }, "It waits there for x.xml of the same stop, which goes first"],
    [
      { kind: "failed", message: "no right.", attempts: 2, triedAgainAt: at },
      "It could not be fetched (tried 2 times): no right. It rests until 2026-11-05T11:00:00.000Z; `dropgate remote retry partner` tries it at once.",
    ],
    [{ kind: "leftAlone", message: "it is too large" }, "It is left alone: it is too large."],
  ])("that is not taken: why not (%o)", async (why, words) => {
    const told = await tell(name, remote({ name, size: 7, why }));
    expect(told).toContain(`${name}, company ACME, lies on the remote partner (7 bytes)\n  ${words}`);
    expect(await tell("4711", remote({ name, size: 7, why }))).toContain(words);
    expect(await tell("4712", remote({ name, size: 7, why }))).not.toContain(words);
  });

  it("that is being written under another name, and of a name that is none of them how many more there are", async () => {
    const told = await tell(name, remote({ name: `${name}.part`, why: { kind: "unfinished" } }));
    expect(told).toContain(`${name}.part, company ACME, lies on the remote partner\n  Its name says`);
    const unknown = await tell(name, remote());
    expect(unknown).toContain("neither the ledger nor any folder knows this name");
    expect(unknown).toContain("Remotes have 3 more files that are not taken yet");
  });
});

itOnSqlite(
  "a name that is known nowhere has the ledger read as often for many companies as for one",
  async () => {
    const ledgerReads = async () => {
      const { store, stateDir } = fixture;
      const steps = await plansOf({ read: store.read, stateDir }, () => tell("nothing-at-all"));
      return steps.filter((step) => step.startsWith("SCAN files"));
    };
    const ofOne = await ledgerReads();
    for (let nbr = 0; nbr < 10; nbr += 1) await fixture.company(`C${nbr}`);
    expect(ofOne).toEqual(["SCAN files", "SCAN files USING COVERING INDEX files_by_name"]);
    expect(await ledgerReads()).toEqual(ofOne);
  },
);

it("what lies in outbound/ is told also when its delivery is forgotten, and once while it is known", async () => {
  const { store, companyId, stateDir } = fixture;
  const file = "acme_nightly_000012.xml";
  const paths = [`companies/ACME/outbound/${file}`, `companies/ACME/outbound/done/${file}`];
  for (const path of paths) await fixture.put(path, "x");
  const told = await tell(file);
  for (const path of paths)
    expect(told).toContain(`${join(stateDir, path)}, company ACME\n  1 byte, changed`);
  expect(told).toContain("No delivery knows it: it was delivered so long ago that this is forgotten");
  await store.write("site", async (tx) => {
    const targets = [{ name: "outbound", takesCompletions: true }];
    await saveOutboundCopy(tx, { companyId, targets, events: [], embedsDocuments: false });
    const line = { companyId, targetId: 1, orderKey: "nightly", subjectId: 1, now: at };
    await addDelivery(tx, { ...line, kind: "export", name: file });
  });
  expect(await tell(file)).not.toContain("No delivery knows it");
  expect(await tell("none.xml")).toContain("What went out is forgotten after retention.outbound");
});
