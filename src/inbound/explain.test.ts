import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { plainStop } from "../../test/support/plain-stop.ts";
import type { ErrorCode } from "../lib/errors.ts";
import { noteLaterStops } from "../store/file-stops.ts";
import { recordEvent } from "../store/recorded-events.ts";
import { saveStop } from "../store/stops.ts";
import { insertUser } from "../store/users.ts";
import { explain } from "./explain.ts";
import { explanationLines } from "./explain-words.ts";
import { ledgerOfEachTest } from "./testing/ledger-fixture.ts";

const name = "4711_20261105_080000.xml";

describe("an explanation", () => {
  const fixture = ledgerOfEachTest();

  async function tell(
    subject: string,
    options: { daemonPid?: number; companyId?: number } = {},
  ): Promise<string> {
    const { store, locations, stateDir } = fixture;
    const folders = [
      { companyCode: "ACME", path: locations.inboundDirectory("ACME"), isInbox: true },
      { companyCode: "ACME", path: join(stateDir, "share"), isInbox: false },
    ];
    const deps = { store, locations, folders, partialFolderName: ".partial", daemonPid: options.daemonPid };
    const query = options.companyId === undefined ? { subject } : { subject, companyId: options.companyId };
    return explanationLines(await explain(deps, query)).join("\n");
  }

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
      `Its bytes are there: ${fixture.stateDir}/companies/ACME/error/2026-11-05/${name}`,
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
    expect(await tell(name)).toContain("ITS BYTES ARE NOT THERE");
  });

  it("of a file in no ledger tells that it waits for the settle rule, or for the daemon", async () => {
    await fixture.put(`companies/ACME/inbound/${name}`, "x");
    expect(await tell(name, { daemonPid: 1 })).toContain("inbound.settleMs");
    expect(await tell(name)).toContain("the daemon is not running");
  });

  it("of an unfinished upload names the user", async () => {
    const userId = await fixture.store.write((tx) =>
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
    await fixture.store.write(async (tx) => {
      await saveStop(tx, { ...stop, fileTime: 20261105080000, updatedAt: 2 });
      await recordEvent(tx, { companyId, kind: "stopUpdated", stopNbr: "AB1", recordedAt: 3 });
    });
    await fixture.wait("ab1_20261105_090000.xml");
    const text = await tell("ab1");
    expect(text).toContain("Stop AB1, company ACME\n  Status 10: unplanned; ");
    expect(text).toContain("7053 STOP UPDATED");
    expect(text).toContain("ab1_20261105_090000.xml, company ACME");
  });

  it("of a stop finds the files that name it further down, and says so", async () => {
    const id = await fixture.wait(name);
    const location = `companies/ACME/archive/2026-11-05/${name}`;
    await fixture.decide(id, { state: "applied", location, text: "x", stopNbr: "4711" });
    const noted = { companyId: fixture.companyId, fileId: id, stopNbrs: ["AB2"] };
    await fixture.store.write((tx) => noteLaterStops(tx, noted));
    expect(await tell("ab2")).toContain("One of its further Stops is ab2.");
    expect(await tell("4711")).not.toContain("further Stops");
  });
});
