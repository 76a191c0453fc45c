/** Each kind of bad file over OpenSSH's client: its code, the receipt in `receipts/` and beside it in `error/`, and no trace in the stops. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getStop, sftp } from "../support/clients.ts";
import { Site } from "../support/daemon.ts";
import {
  carrier,
  codesOf,
  deletionFile,
  filedIn,
  fileName,
  put,
  type Receipt,
  receiptBeside,
  receiptFor,
  type StopFile,
  send,
  stopElement,
  stopFile,
  stopsDocument,
  waitingIn,
  writeLocally,
} from "../support/stop-files.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make();
  await site.start();
});
afterAll(() => site.end());

/** Sends the file and expects its refusal with just these codes, wherever a refusal shows. */
async function expectRefused(file: StopFile, codes: readonly number[]): Promise<Receipt> {
  const receipt = await send(site, file);
  expect(receipt).toMatchObject({ status: 99, records: [0, 0, 0] });
  expect(codesOf(receipt)).toEqual(codes);
  expect(await receiptBeside(site, file.name)).toEqual(receipt);
  expect(await filedIn(site, "error")).toContain(file.name);
  expect(await filedIn(site, "archive")).not.toContain(file.name);
  return receipt;
}

const detail = (quantity: string) =>
  `<StopDetails><StopDetail><StopDetailSeq>1</StopDetailSeq><Quantity UOM="ea">${quantity}</Quantity></StopDetail></StopDetails>`;

describe("the document", () => {
  test("cut off: 950 with the line", async () => {
    const content = stopFile("B100").content.toString().slice(0, 120);
    const receipt = await expectRefused({ name: fileName("B100"), content }, [950]);
    expect(receipt.errors[0]?.line).toBeGreaterThan(2);
    expect(await getStop(site, "B100")).toBeUndefined();
  });

  test("an empty file, and one that is no XML at all: 950", async () => {
    await expectRefused({ name: fileName("B101"), content: "" }, [950]);
    await expectRefused({ name: fileName("B102"), content: Buffer.from([0, 1, 2, 3, 255]) }, [950]);
  });

  test("against the XSD: 951 for each fault, with line, path and what was found", async () => {
    const content = `<Stop>
<Function>04</Function>
<StopNbr>B110</StopNbr>
${detail("many")}
<Colour>red</Colour>
</Stop>`;
    const receipt = await expectRefused({ name: fileName("B110"), content }, [951, 951, 951]);
    const [wrongFunction, quantity, unknown] = receipt.errors;
    expect(wrongFunction).toMatchObject({ line: 2, path: "/Stop/Function" });
    expect(wrongFunction?.text).toContain("04");
    expect(quantity).toMatchObject({ line: 4, path: "/Stop/StopDetails/StopDetail/Quantity" });
    expect(quantity?.text).toContain("many");
    expect(unknown).toMatchObject({ line: 5, path: "/Stop/Colour" });
  });

  test("at most 50 faults are listed", async () => {
    const details = `<StopDetails>${'<StopDetail><Quantity UOM="ea">many</Quantity></StopDetail>\n'.repeat(80)}</StopDetails>`;
    const content = stopElement("B111", details);
    await expectRefused({ name: fileName("B111"), content }, new Array(50).fill(951));
  });

  test("DOCTYPE, and with it every entity: 957", async () => {
    const external = '<!DOCTYPE Stop [<!ENTITY x SYSTEM "file:///etc/passwd">]>';
    const content = `${external}${stopElement("B120").replace("Corner Shop", "&x;")}`;
    const receipt = await expectRefused({ name: fileName("B120"), content }, [957]);
    expect(JSON.stringify(receipt)).not.toContain("root:");
  });

  test("more details than allowed: 909, naming the limit", async () => {
    const one = "<StopDetail><StopDetailSeq>1</StopDetailSeq></StopDetail>";
    const content = stopElement("B130", `<StopDetails>${one.repeat(20_001)}</StopDetails>`);
    const receipt = await expectRefused({ name: fileName("B130"), content }, [909]);
    expect(receipt.errors[0]?.text).toContain("20000");
  });

  test("more stops than allowed: 909", async () => {
    const stops = Array.from({ length: 501 }, (_, index) => stopElement(`B131-${index}`));
    await expectRefused({ name: fileName("B131-0"), content: stopsDocument(stops) }, [909]);
  });

  test("of another company: 905", async () => {
    const content = stopsDocument([stopElement("B140")], "<CompanyCode>OTHER</CompanyCode>");
    await expectRefused({ name: fileName("B140"), content }, [905]);
    const own = stopsDocument([stopElement("B141")], "<CompanyCode>acme</CompanyCode>");
    expect(await send(site, { name: fileName("B141"), content: own })).toMatchObject({ status: 10 });
  });
});

describe("the name", () => {
  test.each([
    "b200.xml",
    "B200_20261105_080000.XML",
    "b200_20261305_080000.xml",
    "b200_20261105_246000.xml",
    "b200 x_20261105_080000.xml",
    "notes.txt",
  ])("%s is not of the form: 952, saying what is", async (name) => {
    const receipt = await expectRefused({ name, content: stopFile("B200").content }, [952]);
    expect(receipt.errors[0]?.text).toContain(name);
    expect(await getStop(site, "B200")).toBeUndefined();
  });

  test("of another stop than the document: 953", async () => {
    const receipt = await expectRefused({ name: fileName("B211"), content: stopFile("B210").content }, [953]);
    expect(receipt.errors[0]?.text).toMatch(/b211.*B210/);
  });
});

describe("the stop", () => {
  test("older than the last applied file: 954, and the newer one stays", async () => {
    const newer = stopFile("B300", { time: "090000", more: "<SealNbr>NEW</SealNbr>" });
    await send(site, newer);
    await expectRefused(stopFile("B300", { time: "080000", more: "<SealNbr>OLD</SealNbr>" }), [954]);
    expect(await getStop(site, "B300")).toMatchObject({ sealNbr: "NEW" });
  });

  test("deleted though it is not there: 921; deleted twice: 921", async () => {
    await expectRefused(deletionFile("B310", "080000"), [921]);
    await send(site, stopFile("B311", { time: "080000" }));
    await send(site, deletionFile("B311", "090000"));
    await expectRefused(deletionFile("B311", "100000"), [921]);
  });

  test("given to an unknown carrier: 925, and nothing is created", async () => {
    const file = stopFile("B320", { more: carrier("NOBODY"), stopFunction: "03" });
    const receipt = await expectRefused(file, [925]);
    expect(receipt.errors[0]?.text).toContain("NOBODY");
    expect(await getStop(site, "B320")).toBeUndefined();
  });
});

test("a bad file does not hold up the others that came with it, whatever their order", async () => {
  const bad = { name: fileName("B400"), content: "<Stop>" };
  const good = [stopFile("B401", { time: "070000" }), stopFile("B402", { time: "090000" })];
  await put(site, bad, ...good);
  expect(codesOf(await receiptFor(site, bad.name))).toEqual([950]);
  for (const { name } of good) expect(await receiptFor(site, name)).toMatchObject({ status: 10 });
});

test("the host reads why in error/ and removes the file there; the ledger keeps that it did", async () => {
  const bad = { name: fileName("B410"), content: "<Stop>" };
  await send(site, bad);
  await receiptBeside(site, bad.name);
  const result = await sftp(site, [
    `get error/*/${fileName("B410").replace(".xml", ".receipt.xml")} why.xml`,
    `rm error/*/${bad.name}`,
  ]);
  expect(result.exitCode, result.output).toBe(0);
  expect(await filedIn(site, "error")).not.toContain(bad.name);
  const [entry] = await site.json<{ removedBy: string; name: string }[]>("files", "--stop", "b410");
  expect(entry ?? (await site.json("files"))).toMatchObject({ removedBy: "host" });
});

test("after all of this nothing waits and the accounting is right", async () => {
  await writeLocally(site, []);
  expect(await waitingIn(site)).toEqual([]);
  const report = await site.json<{ discrepancies: unknown[]; accounts: { waiting: number }[] }>(
    "ledger",
    "verify",
  );
  expect(report.discrepancies).toEqual([]);
  expect(report.accounts[0]?.waiting).toBe(0);
});
