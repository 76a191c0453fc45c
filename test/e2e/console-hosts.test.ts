/** The console's page for host developers, served by the real program. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleBrowser, makeConsoleSite, otherCompany, signInToConsole } from "../support/console.ts";
import { company, lenient, type Site } from "../support/daemon.ts";
import { post } from "../support/gateway-client.ts";
import { carrier, send, stopElement, stopFile } from "../support/stop-files.ts";

const folder = mkdtempSync(join(tmpdir(), "dropgate-hosts-"));
let site: Site;
let developer: ConsoleBrowser;
const sent = stopFile("H1");
const unknownCarrier = stopFile("H2", { more: carrier("NOBODY") });

const simple = `{ "companyCode": $companyCode, "stops": [{ "stopNbr": id, "stopType": "DO",
  "to": { "address": { "name": "Shop", "addr1": "1 Road", "city": "Springfield", "state": "IL", "country": "US" } } }] }`;

beforeAll(async () => {
  const expression = join(folder, "simple.jsonata");
  writeFileSync(expression, simple);
  const integrations = {
    simple: { file: expression },
    theirs: { file: expression, companies: [otherCompany] },
  };
  site = await makeConsoleSite({ security: lenient, integrations });
  await site.start();
  expect((await send(site, sent)).status).toBe(10);
  expect((await send(site, unknownCarrier)).status).toBe(99);
  developer = await signInToConsole(site, "integration");
});
afterAll(async () => {
  await site.end();
  rmSync(folder, { recursive: true });
});

async function tried(text: string, name = "", fields: Readonly<Record<string, string>> = {}) {
  const { status, body } = await developer.post("/console/hosts/trial", { company, text, name, ...fields });
  const result = /<section id="result">(.*?)<\/section>/s.exec(body)?.[1] ?? "";
  return { status, body, result };
}

async function ledgerEntries(): Promise<number> {
  return (await site.json<readonly unknown[]>("files", "--json")).length;
}

describe("a document that is tried", () => {
  test("would be applied: what it would make, and nothing of it is stored", async () => {
    const before = await ledgerEntries();
    const { status, result } = await tried(stopElement("H9"), "h9_20261105_080000.xml");
    expect(status).toBe(200);
    expect(result).toContain("It would be applied.");
    expect(result).toMatch(/<bdi class="foreign">H9<\/bdi><\/th><td data-label="Effect">created/);
    expect(await ledgerEntries()).toBe(before);
    expect((await site.cli("explain", "H9")).output).toContain("there is no stop of this number");
  });

  test("has its name checked, and its document all the same", async () => {
    const { result } = await tried(stopElement("H9", carrier("NOBODY")), "H9.xml");
    expect(result).toContain("It would be refused.");
    expect(result).toContain('<th scope="row">952</th>');
    expect(result).toContain('<th scope="row">925</th>');
    expect(result).toContain("Send the file again under a name of the form");
    expect(result).toContain(
      "Import the carrier; or have the host correct the code, and send it again under a new time.",
    );
    expect((await tried(stopElement("H9"))).result).toContain("It would be applied.");
  });

  test("shows field by field how it differs from what is stored", async () => {
    const changed = stopElement("H1").replace(
      "Corner Shop",
      "Shop of <b>Müller</b> &amp; Söhne".replace(/<[^>]*>/g, ""),
    );
    const { result } = await tried(changed, "h1_20261106_080000.xml");
    expect(result).toContain("Fields of stop H1 that would change");
    expect(result).toMatch(
      /Corner Shop<\/bdi><\/td><td[^>]*><bdi class="foreign">Shop of Müller &amp; Söhne/,
    );
  });

  test("that came before is a duplicate, and what it would be under a new time is told", async () => {
    const { result } = await tried(String(sent.content), sent.name);
    expect(result).toContain("answered as a duplicate");
    expect(result).toContain("Under a new time it would be applied:");
  });

  test("is the one that came before with other line ends too, which no form keeps", async () => {
    const name = "h3_20261105_080000.xml";
    const content = String(stopFile("H3").content).replaceAll("\n", "\r\n");
    expect((await send(site, { name, content })).status).toBe(10);
    expect((await tried(content, name)).result).toContain("answered as a duplicate");
  });

  test("names line and fault of XML that is broken, and shows the text again, escaped", async () => {
    const hostile = `<Stop>\n<StopNbr></textarea><script>alert(1)</script>`;
    const { body, result } = await tried(hostile);
    expect(result).toContain("line 2");
    expect(result).toContain('<th scope="row">950</th>');
    expect(body).not.toContain("<script>alert");
    expect(body).toContain("&lt;/textarea&gt;&lt;script&gt;");
  });

  test("is Unicode once it is in a form, whatever encoding it names", async () => {
    const document = `<?xml version="1.0" encoding="ISO-8859-1"?>${stopElement("H9").replace("Corner", "Café")}`;
    expect((await tried(document)).result).toContain("It would be applied.");
  });

  test("has to be there", async () => {
    const { status, body } = await tried("  ");
    expect(status).toBe(422);
    expect(body).toContain('aria-invalid="true"');
    expect(body).toContain("Put in the text of a document, or choose a file.");
  });
});

describe("an import that is tried", () => {
  const stops = (entry: object) =>
    JSON.stringify({ companyCode: company, stops: [{ stopNbr: "H1", stopType: "DO", ...entry }] });

  test("would be accepted: what it would change, and nothing is stored", async () => {
    const address = {
      name: "Another Shop",
      addr1: "1 Road",
      city: "Springfield",
      state: "IL",
      country: "US",
    };
    const { result } = await tried(stops({ to: { address } }));
    expect(result).toContain("It would be accepted.");
    expect(result).toContain("Import of stops.");
    expect(result).toContain("Another Shop");
    expect((await tried(stops({ to: { address } }))).result).toContain("Another Shop");
  });

  test.each([
    ["{ broken", "900"],
    [JSON.stringify({ stops: [] }), "903"],
    [JSON.stringify({ anything: 1 }), "903"],
    [JSON.stringify({ stops: [{ stopNbr: 5 }] }), "902"],
    [JSON.stringify({ loads: [{ loadHeader: {} }] }), "901"],
  ])("%s is refused with %s", async (text, code) => {
    const { result } = await tried(text);
    expect(result).toContain("It would be refused.");
    expect(result).toContain(`<th scope="row">${code}</th>`);
  });

  test("of loads says what would come of each when it is applied, in its stops too, and stores nothing", async () => {
    const loads = [
      { loadHeader: { loadNbr: "L9", tractorNbr: "T-77" }, stops: [{ stopNbr: "H1", stopSeq: 1 }] },
      { loadHeader: { loadNbr: "L10" }, loadAssignment: { carrierCode: "NOBODY" }, stops: [] },
    ];
    const text = JSON.stringify({ companyCode: company, loads });
    for (const _ of ["first", "again"]) {
      const { result } = await tried(text);
      expect(result).toContain("It would be accepted.");
      expect(result).toContain("applied in the background");
      expect(result).toMatch(/Load <bdi class="foreign">L9<\/bdi><\/th><td[^>]*>created/);
      expect(result).toMatch(
        /L10<\/bdi><\/th><td[^>]*>refused when it is applied<\/td><td[^>]*><p>925 .*loads\[1\]/,
      );
      expect(result).toMatch(/<bdi class="foreign">H1<\/bdi><\/th><td data-label="Effect">updated/);
    }
  });

  test("of orders shows what would change in each, field by field, and in its stop", async () => {
    const address = { name: "Old Name", addr1: "1 Road", city: "Springfield", state: "IL", country: "US" };
    const orderOf = (name: string) =>
      JSON.stringify({
        companyCode: company,
        orders: [{ orderNbr: "O1", stopType: "DO", to: { address: { ...address, name } } }],
      });
    expect((await tried(orderOf("Old Name"))).result).toMatch(
      /Order <bdi class="foreign">O1<\/bdi><\/th><td[^>]*>created/,
    );
    const sentOrder = await post(site, "/v6/order/update/default", JSON.parse(orderOf("Old Name")));
    expect(sentOrder.status).toBe(200);
    const { result } = await tried(orderOf("New Name"));
    expect(result).toContain("Fields of order O1 that would change");
    expect(result).toContain("Fields of stop O1 that would change");
    expect(result).toMatch(/Old Name<\/bdi><\/td><td[^>]*><bdi class="foreign">New Name/);
  });

  test("through a custom integration is what it makes of the text, which is shown", async () => {
    const page = await developer.get("/console/hosts");
    expect(page.body).toContain('<option value="simple">simple</option>');
    const { result } = await tried(JSON.stringify({ id: "H77" }), "", { service: "simple" });
    expect(result).toContain("It would be accepted.");
    expect(result).toContain("What the integration made of it");
    expect(result).toContain("&quot;stopNbr&quot;:&quot;H77&quot;");
    const other = await tried("<Stop/>", "", { service: "simple" });
    expect(other.result).toContain("the integration simple takes JSON");
    expect((await tried("{}", "", { service: "theirs" })).result).toContain("no integration theirs");
  });

  test("of more than 256 KiB is not tried, which is no verdict about it", async () => {
    const { status, body, result } = await tried(JSON.stringify({ stops: ["x".repeat(300_000)] }));
    expect([status, result]).toEqual([422, ""]);
    expect(body).toContain("This JSON has 300 kB, and up to 256 KiB are tried here");
    expect(body).not.toContain("It would be refused");
  });
});

describe("the last receipts", () => {
  test("are those of the viewer, or all of the company, with why and what to do", async () => {
    const own = await developer.get("/console/hosts");
    expect(own.body).toContain("None of the last files was yours.");
    const all = await developer.get("/console/hosts?of=company");
    expect(all.body).toContain(sent.name);
    expect(all.body).toMatch(
      /925: <bdi class="foreign">.*NOBODY.*<strong>What to do:<\/strong> Import the carrier; or have the host correct the code, and send it again under a new time\./,
    );
    // Who may not look has no page of a file.
    expect(all.body).not.toContain('href="/console/files/');
    const host = await signInToConsole(site, "host");
    expect((await host.get("/console/hosts")).body).toContain(unknownCarrier.name);
    const admin = await signInToConsole(site, "admin");
    expect((await admin.get("/console/hosts?of=company")).body).toContain('href="/console/files/');
  });

  test("of another company are not shown, nor is a document tried for it", async () => {
    const { body } = await developer.get(`/console/hosts?of=company&company=${otherCompany}`);
    expect(body).toContain(sent.name);
    const stranger = await signInToConsole(site, "stranger");
    expect((await stranger.get(`/console/hosts?of=company&company=${company}`)).body).not.toContain(
      sent.name,
    );
    const { result } = await tried(String(sent.content), sent.name, { company: otherCompany });
    expect(result).toContain("answered as a duplicate");
  });
});

describe("samples", () => {
  test("have the name of the viewer, the ports of this server, and the company", async () => {
    const { body } = await developer.get("/console/hosts");
    expect(body).toContain("sftp -P ");
    expect(body).toContain("integration@SERVER");
    expect(body).toContain(`/v6/stop/update/default/${company}`);
  });

  test("pass a trial", async () => {
    const { body } = await developer.get("/console/hosts");
    const listings = [...body.matchAll(/<pre[^>]*>\n(.*?)<\/pre>/gs)].map(([, text = ""]) =>
      text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'"),
    );
    const document = listings.find((text) => text.startsWith("<?xml")) ?? "";
    const name = /put (\S+) /.exec(listings.join())?.[1] ?? "";
    expect((await tried(document, name)).result).toContain("It would be applied.");
    const json = /'(\{ "companyCode.*\})'/s.exec(listings.join("\n"))?.[1] ?? "";
    expect((await tried(json)).result).toContain("It would be accepted.");
  });
});

test("a sign-in leads to the first page that the user may see", async () => {
  const first = await developer.get("/console");
  expect([first.status, first.headers.get("location")]).toEqual([303, "/console/hosts"]);
  const driver = await signInToConsole(site, "driver");
  expect((await driver.get("/console")).headers.get("location")).toBe("/console/password");
});

test.each(["driver", "inquiry", "dispatcher"] as const)("%s has no such page", async (name) => {
  const browser = await signInToConsole(site, name);
  expect((await browser.get("/console/hosts")).status).toBe(403);
  const reply = await browser.post("/console/hosts/trial", { text: stopElement("H9"), company });
  expect(reply.status).toBe(403);
});
