/** The legacy web service and retrieval, the gateway and the probes, with curl and plain requests on the real program. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { curl, getStop, type HttpReply, http, importPartner } from "../support/clients.ts";
import { company, lenient, Site } from "../support/daemon.ts";
import { codesOf, parseReceipt, send, stopElement, stopFile, stopsDocument } from "../support/stop-files.ts";

let site: Site;
const service = `/api/stop/${company}`;

beforeAll(async () => {
  site = await Site.make({ security: lenient });
  await site.mustRun("company", "add", "OTHER");
  await site.addUser("viewer", ["DI_Inquiry"]);
  await site.start();
});
afterAll(() => site.end());

interface Reasons {
  readonly Reasons: readonly { readonly reasonCode: number; readonly description: string }[];
}

function reasonsOf(reply: HttpReply): number[] {
  return (JSON.parse(reply.body) as Reasons).Reasons.map(({ reasonCode }) => reasonCode);
}

interface PostOptions {
  readonly type?: string;
  readonly more?: readonly string[];
  readonly userName?: string;
  readonly password?: string;
}

/** Posts a document to the legacy web service with curl; gives status, media type and body. */
async function post(
  document: string | Buffer,
  path = service,
  { type: sent = "application/xml", more = [] as readonly string[], ...signIn }: PostOptions = {},
) {
  await writeFile(join(site.client, "body.xml"), document);
  const result = await curl(
    site,
    [
      "-w",
      "\n%{http_code} %{content_type}",
      "-H",
      `Content-Type: ${sent}`,
      ...more,
      "--data-binary",
      "@body.xml",
      `${site.http}${path}`,
    ],
    signIn,
  );
  expect(result.exitCode, result.output).toBe(0);
  const end = result.stdout.lastIndexOf("\n");
  const [status, ...type] = result.stdout.slice(end + 1).split(" ");
  return { status: Number(status), type: type.join(" "), body: result.stdout.slice(0, end) };
}

describe("the legacy XML web service", () => {
  test("applies a document and answers with a StopResponse", async () => {
    const answer = await post(`<?xml version="1.0"?>${stopElement("H100")}`);
    expect(answer).toMatchObject({ status: 200, type: expect.stringContaining("application/xml") });
    expect(parseReceipt(answer.body)).toEqual({
      documentId: "UNKNOWN",
      status: 10,
      errors: [],
      records: [1, 0, 0],
    });
    expect(await getStop(site, "H100")).toMatchObject({ stopStatus: "10" });
    const document = stopsDocument(
      [stopElement("H101"), stopElement("H102")],
      "<DocumentID>D-1</DocumentID>",
    );
    expect(parseReceipt((await post(document)).body)).toMatchObject({
      documentId: "D-1",
      records: [2, 0, 0],
    });
  });

  test("takes text/xml, a charset, and the company in any case", async () => {
    const type = "text/xml; charset=utf-8";
    const answer = await post(stopElement("H110"), "/api/STOP/acme", { type });
    expect(parseReceipt(answer.body)).toMatchObject({ status: 10 });
  });

  test.each([
    ["no XML", "<Stop>", 950],
    ["an unknown element", stopElement("H120", "<Colour/>"), 951],
    ["a DOCTYPE", `<!DOCTYPE Stop []>${stopElement("H120")}`, 957],
    ["another company", stopsDocument([stopElement("H120")], "<CompanyCode>OTHER</CompanyCode>"), 905],
    ["nothing to delete", "<Stop><Function>02</Function><StopNbr>H120</StopNbr></Stop>", 921],
  ])("answers %s with 200 and Status 99, as legacy clients expect", async (_what, document, code) => {
    const answer = await post(document);
    expect(answer).toMatchObject({ status: 200, type: expect.stringContaining("application/xml") });
    const receipt = parseReceipt(answer.body);
    expect(receipt).toMatchObject({ status: 99, records: [0, 0, 0] });
    expect(codesOf(receipt)).toEqual([code]);
    expect(await getStop(site, "H120")).toBeUndefined();
  });

  test("what never comes to processing keeps its status, and is a StopResponse too", async () => {
    const document = stopElement("H130");
    const answers = [
      await post(document, service, { password: "wrong" }),
      await post(document, service, { userName: "nobody" }),
      await post(document, "/api/stop/OTHER"),
      await post(document, service, { userName: "viewer" }),
      await post(document, service, { type: "application/json" }),
      await post(document, service, { more: ["-X", "PUT"] }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 403, 415, 405]);
    for (const { type } of answers) expect(type).toContain("application/xml");
    expect(answers.map(({ body }) => codesOf(parseReceipt(body))[0])).toEqual([930, 930, 930, 932, 942, 941]);
    expect(await getStop(site, "H130")).toBeUndefined();
  });

  test("a body over the limit is refused with 413 while it is sent", async () => {
    const big = stopElement("H140", `<!-- ${"x".repeat(21_000_000)} -->`);
    const answer = await post(big);
    expect(answer.status).toBe(413);
    expect(codesOf(parseReceipt(answer.body))).toEqual([909]);
  });

  test("a file and the web service change the same stop", async () => {
    await send(site, stopFile("H150"));
    const answer = await post(stopElement("H150", "<SealNbr>WEB</SealNbr>"));
    expect(parseReceipt(answer.body)).toMatchObject({ status: 10, records: [0, 1, 0] });
    expect(await getStop(site, "H150")).toMatchObject({ sealNbr: "WEB" });
  });
});

describe("the legacy JSON retrieval", () => {
  interface LegacyStop {
    readonly stopNbr: string;
    readonly status: string;
    readonly earliestStartDttm: string;
  }

  beforeAll(async () => {
    const stops = [1, 2, 3].map((index) =>
      stopElement(`R${index}`, `<SealNbr>SEAL-${index}</SealNbr><Reference1>REF</Reference1>`),
    );
    await post(stopsDocument(stops));
    await post("<Stop><Function>02</Function><StopNbr>R3</StopNbr></Stop>");
  });

  async function find(query: string): Promise<{ reply: HttpReply; stops: LegacyStop[]; numbers: string[] }> {
    const reply = await http(site, `${service}?${query}`);
    const stops = reply.status === 200 ? (JSON.parse(reply.body) as LegacyStop[]) : [];
    return { reply, stops, numbers: stops.map(({ stopNbr }) => stopNbr).sort() };
  }

  test("filters by any field, in any case, with and without `stop` before it", async () => {
    expect((await find("stopSealNbr=SEAL-1")).numbers).toEqual(["R1"]);
    expect((await find("SEALNBR=SEAL-1&sealnbr=SEAL-2")).numbers).toEqual(["R1", "R2"]);
    expect((await find("sealNbr=SEAL-1&stopNbr=R2")).numbers).toEqual([]);
    expect((await find("reference1=REF")).numbers).toEqual(["R1", "R2"]);
    expect((await find("reference1=REF&status=99")).numbers).toEqual(["R3"]);
  });

  test("shows dates in the legacy form and pages", async () => {
    const { stops } = await find("stopNbr=R1");
    expect(stops[0]).toMatchObject({ status: "10", earliestStartDttm: "Nov 6, 2026 8:00:00 AM" });
    const { reply, numbers } = await find("reference1=REF&limit=1&offset=1");
    expect(numbers).toHaveLength(1);
    expect(reply.headers.get("x-total-count")).toBe("2");
  });

  test("an unknown filter is refused with 910", async () => {
    const { reply } = await find("colour=red");
    expect(reply.status).toBe(400);
    expect(reasonsOf(reply)).toEqual([910]);
  });

  test("is for the role and the company only", async () => {
    expect((await http(site, service, { userName: "viewer" })).status).toBe(403);
    expect((await http(site, "/api/stop/OTHER")).status).toBe(401);
    expect((await http(site, service, { password: "wrong" })).status).toBe(401);
  });
});

describe("the gateway", () => {
  test("stop detail answers under v5 and v6, 921 for an unknown number, with a request id", async () => {
    await post(stopElement("G100"));
    for (const version of ["v5", "v6"]) {
      const reply = await http(site, `/${version}/stop/info/G100/${company}`);
      expect(reply.status).toBe(200);
      expect(reply.headers.get("x-request-id")).toBeTruthy();
    }
    const unknown = await http(site, `/v5/stop/info/__probe__/${company}`);
    expect(unknown.status).toBe(404);
    expect(reasonsOf(unknown)).toEqual([921]);
  });

  test("business partners are imported as a whole or not at all", async () => {
    expect((await importPartner(site, "P1")).body).toBe('{"status":"Success"}');
    const path = `/v5/businesspartner/update/${company}`;
    const type = "application/json";
    const ask = (body: unknown) => http(site, path, { body: JSON.stringify(body), type });
    const partners = [{ partnerCode: "P2" }, { partnerName: "without a code" }];
    const bad = await ask({ companyCode: company, businessPartners: partners });
    expect(bad.status).toBe(400);
    expect(bad.body).toContain("businessPartners[1]");
    const assign = `<StopAssignment><CarrierCode>P2</CarrierCode></StopAssignment>`;
    expect(codesOf(parseReceipt((await post(stopElement("G110", assign, "03"))).body))).toEqual([925]);
    expect(reasonsOf(await ask({ companyCode: "OTHER", businessPartners: partners.slice(0, 1) }))).toEqual([
      905,
    ]);
    expect(reasonsOf(await http(site, path, { body: "{", type }))).toEqual([900]);
    expect(reasonsOf(await http(site, path, { body: "{}", type: "text/plain" }))).toEqual([942]);
  });

  test("what is not there is 940 and 941", async () => {
    const unknown = await http(site, "/v5/nothing/here");
    expect([unknown.status, ...reasonsOf(unknown)]).toEqual([404, 940]);
    const wrong = await http(site, `/v5/stop/info/X/${company}`, { method: "DELETE" });
    expect([wrong.status, ...reasonsOf(wrong)]).toEqual([405, 941]);
    expect(wrong.headers.get("allow")).toContain("GET");
  });

  test("healthz and readyz ask for no sign-in; readyz names its checks", async () => {
    const [health, ready] = await Promise.all([fetch(`${site.http}/healthz`), fetch(`${site.http}/readyz`)]);
    expect([health.status, await health.text()]).toEqual([200, "ok\n"]);
    expect(ready.status).toBe(200);
    const checks = { store: true, ledger: true, parser: true, http: true, sftp: true };
    expect(await ready.json()).toMatchObject({ status: "ready", checks });
  });
});
