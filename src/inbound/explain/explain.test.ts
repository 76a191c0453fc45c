import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asOrdinaryUser } from "../../../test/support/ordinary-user.ts";
import { plainStop } from "../../../test/support/plain-stop.ts";
import type { ErrorCode } from "../../lib/errors.ts";
import { noteLaterStops } from "../../store/ledger/files.ts";
import { addDelivery } from "../../store/outbound/deliveries.ts";
import { pauseByHand } from "../../store/outbound/hand-pauses.ts";
import { saveOutboundCopy, saveTargetPause } from "../../store/outbound/outbound-targets.ts";
import { recordEvent, recordEvents } from "../../operations/consequences/record-events.ts";
import { saveStop } from "../../store/stops/stops.ts";
import { insertUser } from "../../store/accounts/users.ts";
import { ledgerOfEachTest } from "../testing/ledger-fixture.ts";
import { type TellOptions, tellOf } from "../testing/told-explanation.ts";

const name = "4711_20261105_080000.xml";

describe("an explanation", () => {
  const fixture = ledgerOfEachTest();

  const tell = (subject: string, options?: TellOptions) => tellOf(fixture, subject, options);

  async function refusedFor(...codes: ErrorCode[]): Promise<string> {
    const id = await fixture.wait(name);
    const faults = codes.map((code) => ({ code, message: "it is so" }));
    const location = `companies/ACME/error/2026-11-05/${name}`;
    const state = codes.includes("superseded") ? "superseded" : "refused";
    await fixture.decide(id, { state, location, text: "x", stopNbr: "4711", faults });
    return await tell(name);
  }

  async function refused(): Promise<number> {
    const id = await fixture.wait(name);
    const fault = {
      code: "xsdMismatch",
      message: "Quantity: found 'x'",
      line: 12,
      path: "/Stop/Quantity",
    } as const;
    const location = `companies/ACME/error/2026-11-05/${name}`;
    await fixture.decide(id, { state: "refused", location, text: "x", stopNbr: "4711", faults: [fault] });
    return id;
  }

  it("of a refused file tells who sent it, why it was refused, what to do and where it lies", async () => {
    const id = await refused();
    const text = await tell(name);
    expect(text).not.toContain("file retry");
    expect(text).toContain(`ledger entry ${id}`);
    expect(text).toContain("over SFTP by user host1");
    expect(text).toContain("951 line 12 /Stop/Quantity: Quantity: found 'x'");
    expect(text).toContain("What to do:");
    expect(text).toContain(
      `It is kept as it was sent: ${fixture.stateDir}/companies/ACME/error/2026-11-05/${name}`,
    );
  });

  it.each([
    ...(["tooLarge", "stopNotFound", "partnerNotFound"] as const),
    ...(["stopInTransit", "finalState", "internal"] as const),
  ])("of a file refused for %s offers to try it again: the outcome can differ", async (code) => {
    expect(await refusedFor(code)).toMatch(/dropgate file retry \d+/);
  });

  it.each([
    ...(["notWellFormed", "xsdMismatch", "badFileName", "stopNumberDiffers"] as const),
    ...(["forbiddenXml", "companyDiffers", "superseded", "nameReused"] as const),
  ])("of a file refused for %s says what the host has to do, and offers no retry", async (code) => {
    const text = await refusedFor(code);
    expect(text).toContain("What to do:");
    expect(text).not.toContain("file retry");
  });

  it("offers no retry when one of several faults would stay", async () => {
    expect(await refusedFor("partnerNotFound", "companyDiffers")).not.toContain("file retry");
  });

  it("takes the name of a receipt, and a name with a folder before it, for the file's", async () => {
    await refused();
    expect(await tell("receipts/4711_20261105_080000.receipt.xml")).toContain("Refused");
    expect(await tell(`/some/where/${name}`)).toContain("Refused");
  });

  it("of a waiting file tells how many go before it, the first of them, and whether anybody works", async () => {
    await fixture.wait("2_20261105_070000.xml", { nameTime: 20261105070000 });
    await fixture.wait("1_20261105_060000.xml", { nameTime: 20261105060000 });
    await fixture.wait("8_20261105_090000.xml", { nameTime: 20261105090000 });
    await fixture.wait(name);
    const text = await tell(name);
    expect(text).toContain("2 files go before it in order; the first of them is 1_20261105_060000.xml");
    expect(text).toContain("The daemon is not running");
    expect(await tell(name, { daemonPid: 1 })).not.toContain("not running");
  });

  it("of a duplicate names the entry that counts", async () => {
    const first = await refused();
    const again = await fixture.wait(name);
    const location = `companies/ACME/archive/2026-11-05/4711_20261105_080000.${again}.xml`;
    await fixture.decide(again, { state: "duplicate", location, text: "x", firstId: first });
    expect(await tell(name)).toContain(`the same name and content as entry ${first} (refused)`);
  });

  it("says loudly when bytes are gone", async () => {
    const id = await fixture.wait(name);
    await fixture.decide(id, {
      state: "applied",
      location: "companies/ACME/archive/x/x.xml",
      text: "x",
      putAt: [],
    });
    expect(await tell(name)).toContain("ITS CONTENT IS MISSING");
  });

  it("of a file in no ledger tells that it waits for the settle rule, or for the daemon", async () => {
    await fixture.put(`companies/ACME/inbound/${name}`, "x");
    expect(await tell(name, { daemonPid: 1 })).toContain("inbound.settleMs");
    expect(await tell(name)).toContain("the daemon is not running");
  });

  it("of an unfinished upload names the user", async () => {
    const userId = await fixture.store.write("site", (tx) =>
      insertUser(tx, { userName: "host9", passwordHash: null, now: 1 }),
    );
    await fixture.put(`companies/ACME/inbound/.partial/${userId}/${name}`, "half");
    expect(await tell(name)).toContain("an upload of user host9 that is not complete");
  });

  it("finds a watched folder's file and names that say unfinished", async () => {
    await fixture.put(`share/${name}.part`, "half");
    expect(await tell(name)).toContain("left alone until its writer renames it");
    await fixture.put(`share/${name}`, "whole");
    expect(await tell(name)).toContain(`share/${name}, company ACME`);
  });

  it.each(["share/d10.xml.tmp", "companies/ACME/inbound/d10.xml.part", "share/.d10.xml"])(
    "tells of the unfinished %s once, and that it is left alone",
    async (location) => {
      await fixture.put(location, "half");
      const text = await tell(location, { daemonPid: 7 });
      expect(text.split(`${fixture.stateDir}/${location}`)).toHaveLength(2);
      expect(text).toContain("Its name says that it is unfinished");
      expect(text).not.toContain("it is taken when");
    },
  );

  it("finds an entry whose name has letters of another case, and says so", async () => {
    await fixture.wait("A10_20261105_080000.xml");
    const text = await tell("a10_20261105_080000.xml");
    expect(text).toContain("There is no a10_20261105_080000.xml, but with letters of another case A10_");
    expect(text).toContain("A10_20261105_080000.xml, company ACME, ledger entry 1");
    expect(await tell("A10_20261105_080000.xml")).not.toContain("another case");
    expect(await tell("A10_20261105_080000.xml", { companyId: fixture.companyId + 1 })).not.toContain(
      "ledger entry",
    );
  });

  it("tells of a dropped file with a line break in its name that it is left alone", async () => {
    await fixture.put("share/a\nb.xml", "x");
    expect(await tell("a\nb.xml", { daemonPid: 7 })).toContain("Its name has a control character");
  });

  it("says what is wrong with a name that nobody knows", async () => {
    const text = await tell("Order.XML");
    expect(text).toContain("neither the ledger nor any folder knows this name");
    expect(text).toContain("not all lower case");
  });

  it("looks in one company when told to, and says when another one knows the file", async () => {
    await refused();
    const other = await fixture.company("OTHER");
    expect(await tell(name, { companyId: other })).toContain("Found in another company: ACME");
  });

  it("of a stop tells its state, its events and its files, whatever the case of its number", async () => {
    const { companyId } = fixture;
    const stop = { ...plainStop, companyId, stopNbr: "AB1", body: "{}" };
    await fixture.store.write("site", async (tx) => {
      await saveStop(tx, { ...stop, fileTime: 20261105080000, updatedAt: 2 });
      await recordEvent(tx, { companyId, kind: "stopUpdated", stopNbr: "AB1", recordedAt: 3 });
    });
    await fixture.wait("ab1_20261105_090000.xml");
    const text = await tell("ab1");
    expect(text).toContain("Stop AB1, company ACME\n  Status 10: unplanned; ");
    expect(text).toContain("7053 STOP UPDATED");
    expect(text).toContain("ab1_20261105_090000.xml, company ACME");
  });

  it("of a stop tells its load and driver, and its events by when they happened", async () => {
    const { companyId, store } = fixture;
    const stop = { ...plainStop, companyId, stopNbr: "AB1", body: "{}", fileTime: null, updatedAt: 2 };
    const at = Date.UTC(2026, 10, 5, 12);
    await store.write("site", async (tx) => {
      await saveStop(tx, stop);
      const driver = JSON.stringify({ driverName: "Bo Lind", driverUserName: "blind" });
      const times = { created_at: 1, updated_at: 1 };
      const load = {
        company_id: companyId,
        load_nbr: "R7",
        load_status: 40 as const,
        body: "{}",
        execution: "{}",
        extra: "{}",
      };
      const { id } = await tx
        .insertInto("loads")
        .values({ ...load, ...times, driver })
        .returning("id")
        .executeTakeFirstOrThrow();
      await tx.updateTable("stops").set({ load_id: id }).execute();
      const reported = (eventDTTM: string) => ({ data: { eventDTTM, eventTz: "Europe/Berlin" } });
      await recordEvents(tx, [
        {
          companyId,
          kind: "stopArrival",
          stopNbr: "AB1",
          recordedAt: at,
          ...reported("2026-11-05T12:30:00"),
        },
        { companyId, kind: "stopPlanned", stopNbr: "AB1", recordedAt: at - 1_000 },
        {
          companyId,
          kind: "stopDeparture",
          stopNbr: "AB1",
          recordedAt: at,
          ...reported("2026-11-05T13:00:10"),
        },
      ]);
    });
    const text = await tell("AB1");
    expect(text).toContain("It is on load R7 (status 40), driver Bo Lind (blind).");
    const lines = text.split("\n").filter((line) => /70\d\d/.test(line));
    expect(lines.map((line) => line.trim())).toEqual([
      "2026-11-05T11:30:00.000Z  7007 STOP ARRIVAL (recorded 2026-11-05T12:00:00.000Z)",
      "2026-11-05T11:59:59.000Z  7028 STOP PLANNED",
      "2026-11-05T12:00:10.000Z  7008 STOP DEPARTURE",
    ]);
  });

  it("knows completion files and exports by their names, and what they wait for", async () => {
    const { companyId, store } = fixture;
    const stop = { ...plainStop, companyId, stopNbr: "AB1", body: "{}", fileTime: null, updatedAt: 2 };
    const now = Date.UTC(2026, 10, 5, 12);
    await store.write("site", async (tx) => {
      const targets = [{ name: "tms", takesCompletions: true }];
      await saveOutboundCopy(tx, { companyId, targets, events: [], embedsDocuments: false });
      await saveStop(tx, { ...stop, status: "90" });
      await recordEvents(tx, [{ companyId, kind: "stopDelivery", stopNbr: "AB1", recordedAt: now }]);
      const line = { companyId, targetId: 1, orderKey: "nightly", subjectId: 1, now };
      await addDelivery(tx, { ...line, kind: "export", name: "acme_nightly_000012.xml" });
      await saveTargetPause(tx, { id: 1, failures: 3, pausedUntil: now + 600_000 });
    });
    const file = "ab1_20261105_120000.xml";
    expect(await tell(file)).toContain(
      `${file}, company ACME, of stop AB1\n  Completion file ${file} to tms (delivery 1): it waits since 2026-11-05T12:00:00.000Z, because the target tms pauses until 2026-11-05T12:10:00.000Z (once it is repaired, \`dropgate delivery retry --all --target tms\` goes on at once).`,
    );
    const pause = { companyId, kind: "target", name: "tms", pausedAt: now, pausedBy: "anna" } as const;
    await store.write("site", (tx) => pauseByHand(tx, { ...pause, reason: "their system moves" }));
    expect(await tell(file)).toContain(
      "because the target tms is paused by anna since 2026-11-05T12:00:00.000Z (`dropgate target resume tms` lets it go on)",
    );
    expect(await tell("AB1")).toContain(`Completion file ${file} to tms (delivery 1)`);
    for (const subject of ["acme_nightly_000012.xml", "acme_nightly_000012.manifest.xml"])
      expect(await tell(subject)).toContain("of export nightly\n  Export acme_nightly_000012.xml to tms");
    await store.write("site", (tx) =>
      tx.updateTable("deliveries").set({ name: "ab1_20261105_120001.xml" }).where("id", "=", 1).execute(),
    );
    expect(await tell(file)).toContain("Completion file ab1_20261105_120001.xml to tms");
  });

  it("tells of a file that cannot be read, and of the later file of its stop that waits for it", async () => {
    await fixture.wait("ab1_20261105_080000.xml");
    const later = "ab1_20261105_090000.xml";
    await fixture.wait(later, { nameTime: 20261105090000 });
    await fixture.put("share/ab2_20261105_080000.xml", "x");
    await asOrdinaryUser(fixture.stateDir, async () => {
      for (const path of ["companies/ACME/inbound/ab1_20261105_080000.xml", "share/ab2_20261105_080000.xml"])
        chmodSync(join(fixture.stateDir, path), 0);
      const first = await tell("ab1_20261105_080000.xml", { daemonPid: 7 });
      expect(first).toContain("the later files of its stop wait for it");
      expect(first).toContain("cannot be read by this user");
      expect(await tell(later, { daemonPid: 7 })).toContain(
        "ab1_20261105_080000.xml (entry 1) of the same stop goes first, and cannot be read now",
      );
      expect(await tell("ab2_20261105_080000.xml", { daemonPid: 7 })).toContain("give it the right");
    });
  });

  it("of a waiting file names the earlier one of its stop that lies in a folder and is not whole", async () => {
    const later = "ab1_20261105_090000.xml";
    await fixture.wait(later, { nameTime: 20261105090000 });
    expect(await tell(later, { daemonPid: 7 })).toContain("No file with an earlier time waits before it.");
    await fixture.put("share/ab1_20261105_080000.xml", "<Stop><StopNbr>AB1");
    for (const other of ["share/ab2_20261105_080000.xml", "share/ab1_20261105_100000.xml"])
      await fixture.put(other, "<Stop>");
    const text = await tell(later, { daemonPid: 7 });
    const first = `${fixture.stateDir}/share/ab1_20261105_080000.xml of the same stop goes first, and is not whole`;
    expect(await tell("ab1_20261105_100000.xml", { daemonPid: 7 })).toContain(first);
    expect(await tell("ab2_20261105_080000.xml", { daemonPid: 7 })).not.toContain("goes first");
    expect(text).toContain(
      `${fixture.stateDir}/share/ab1_20261105_080000.xml of the same stop goes first, and is not whole`,
    );
    expect(text.match(/goes first/g)).toHaveLength(1);
    expect(text).not.toContain("No file with an earlier time");
    await fixture.put("share/ab1_20261105_080000.xml", "<Stop><StopNbr>AB1</StopNbr></Stop>");
    expect(await tell(later, { daemonPid: 7 })).not.toContain("goes first");
  });

  it("of a stop that is not known yet tells its files in folders", async () => {
    await fixture.put("share/ab-1_20261105_080000.xml", "<Stop>");
    const text = await tell("AB 1", { daemonPid: 7 });
    expect(text).toContain("share/ab-1_20261105_080000.xml, company ACME");
    expect(text).toContain("It does not end with the end tag of its root");
    await fixture.wait("ab-1_20261105_090000.xml");
    expect(
      (await tell("AB 1", { daemonPid: 7 })).match(/ab-1_20261105_090000.xml, company ACME/g),
    ).toHaveLength(1);
  });

  it("says that the disk is full, whatever is asked for", async () => {
    expect(await tell(name)).not.toContain("disk");
    expect(await tell(name, { freeBytes: 1e9 })).toContain(
      "The disk is full: 1.0 GB are free, and storage.minFree asks for 2.0 GB",
    );
  });

  it("of a stop finds the files that name it further down, and says so", async () => {
    const id = await fixture.wait(name);
    const location = `companies/ACME/archive/2026-11-05/${name}`;
    await fixture.decide(id, { state: "applied", location, text: "x", stopNbr: "4711" });
    const noted = { companyId: fixture.companyId, fileId: id, stopNbrs: ["AB2"] };
    await fixture.store.write("site", (tx) => noteLaterStops(tx, noted));
    expect(await tell("ab2")).toContain("One of its further Stops is ab2.");
    expect(await tell("4711")).not.toContain("further Stops");
  });

  it("has whole lines: without a time that there is not, a path that there is not, a way in that is not its own", async () => {
    const id = await fixture.wait(name);
    expect(await tell(name)).toContain("\n  It waits to be applied.\n");
    const from = { channel: "remote:erp" };
    await fixture.store.write("site", (tx) =>
      tx.updateTable("files").set(from).where("id", "=", id).execute(),
    );
    expect(await tell(name)).toContain("from the remote erp by user host1");
    const lines = (await refusedFor("partnerNotFound")).split("\n");
    expect(lines).toContain("    925: it is so");
    expect(lines).toContain("  Refused 2023-11-14T22:13:21.000Z. Stop 4711, Function 01 (create or update).");
  });

  it("does not take a fault of the disk for a file that is not there", async () => {
    symlinkSync("share", join(fixture.stateDir, "share"));
    await expect(tell(name)).rejects.toThrow("ELOOP");
  });

  it.each([
    ["", "It is empty"],
    ["<Stops><Stop></Stop>", "It does not end with the end tag of its root"],
  ])(
    "of a file of a folder that is not whole (%o) tells that it stays and what waits for it",
    async (content, words) => {
      const folder = join(fixture.stateDir, "share");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, name), content);
      const text = await tell(name, { daemonPid: 1 });
      expect(text).toContain(words);
      expect(text).toContain("later files of its stop wait for it");
      writeFileSync(join(folder, name), "<Stops><Stop></Stop></Stops>");
      expect(await tell(name, { daemonPid: 1 })).not.toContain("later files");
    },
  );
});
