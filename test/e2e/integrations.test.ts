/** Custom integrations on the real program: imports over HTTP, limits, reload, and the commands for them. */
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HttpReply, http } from "../support/clients.ts";
import { company, DaemonRun, Site } from "../support/daemon.ts";
import { getJson, importFinished } from "../support/gateway-client.ts";
import { waitFor } from "../support/wait-for.ts";

const samples = resolve(import.meta.dirname, "../../config/samples/integrations");
let site: Site;

/** A process that has ended and is not yet collected counts as gone. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false; // There is no such process any more.
  }
}

function integration(name: string): string {
  return join(site.folder, `${name}.jsonata`);
}

const expressions = {
  same: "$",
  fixed: '{ "companyCode": $companyCode, "stops": [{ "stopNbr": "V1" }] }',
  single: '{ "companyCode": $companyCode, "stops": { "stopNbr": lines.number } }',
  picky: '(\n  lines ? $ : $error("there are no lines")\n)',
  stuck: "$contains('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', /^(?=a|b)(a+)+$/)",
  bomb: "$length($pad('x', 500000000, 'y'))",
  odd: '{ "companyCode": $companyCode, "stops": $sum }',
};

const settings = () => ({
  erp: { file: join(samples, "erp-orders.jsonata"), companies: [company] },
  planner: { file: join(samples, "route-export.jsonata"), input: "xml" },
  ...Object.fromEntries(
    Object.keys(expressions).map((name) => [
      name,
      { file: integration(name), timeoutMs: name === "stuck" ? 500 : 60_000 },
    ]),
  ),
});

beforeAll(async () => {
  site = await Site.make({ security: { wrongPasswordDelayMs: 0 } });
  for (const [name, text] of Object.entries(expressions)) await writeFile(integration(name), text);
  await site.reconfigure({ integrations: settings() });
  await site.mustRun("company", "add", "OTHER");
  await site.addUser("guest", ["DI_Integration"], "OTHER");
  await site.start();
});
afterAll(() => site.end());

interface Sending {
  readonly type?: string;
  readonly userName?: string;
  readonly to?: string;
}

async function send(
  path: string,
  body: unknown,
  { type = "application/json", userName, to = company }: Sending = {},
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return await http(site, `${path}/${to}`, {
    body: text,
    type,
    ...(userName === undefined ? {} : { userName }),
  });
}

/** Status and reasons of a refusal in one text. */
function refusal({ status, body }: HttpReply): string {
  const { Reasons } = JSON.parse(body) as { Reasons: readonly { reasonCode: number; description: string }[] };
  return [status, ...Reasons.map(({ reasonCode, description }) => `${reasonCode} ${description}`)].join("\n");
}

async function refused(path: string, body: unknown, sending: Sending = {}): Promise<string> {
  return refusal(await send(path, body, sending));
}

describe("an import through an integration", () => {
  test("of JSON: the orders of the sample arrive", async () => {
    const reply = await send(
      "/v6/order/update/erp",
      await readFile(join(samples, "erp-orders.json"), "utf8"),
    );
    expect(reply).toMatchObject({ status: 200, body: '{"status":"Success"}' });
    const { Order } = await getJson<{ Order: readonly object[] }>(site, `/v6/order/info/4711/${company}`);
    expect(Order[0]).toMatchObject({
      weight: 253,
      to: { address: { name: "Bäckerei Sommer" }, schedule: { timeFrom: "2026-11-06T08:00:00" } },
      stopDetails: [{ productIdentifier: "88010" }, { productIdentifier: "88044" }],
    });
    expect(await refused(`/v6/order/cancel`, { orderNbr: "4712", reasonCode: "R" })).toContain("922");
  });

  test("of XML: the route of the sample becomes a load with its stops in order", async () => {
    const xml = await readFile(join(samples, "route-export.xml"), "utf8");
    for (const type of ["application/xml", "text/xml; charset=utf-8"]) {
      const reply = await send("/v5/load/update/planner", xml, { type });
      const { importId } = JSON.parse(reply.body) as { importId: string };
      expect(await importFinished(site, importId)).toMatchObject({
        status: "Success",
        loads: [{ loadNbr: "R-2026-311", status: "Success" }],
      });
    }
    interface Info {
      readonly Load: { readonly stops: readonly { readonly stop: { stopNbr: string; stopType: string } }[] };
    }
    const { Load } = await getJson<Info>(site, `/v5/load/info/R-2026-311/${company}`);
    expect(Load.stops.map(({ stop }) => `${stop.stopNbr} ${stop.stopType}`)).toEqual([
      "9001 DO",
      "9002 PU",
      "9003 DO",
    ]);
  });

  test.each(["/v5/stop/update/fixed", "/v5/asn/update/fixed"])("on %s, under both versions", async (path) => {
    for (const version of ["v5", "v6"]) {
      const reply = await send(path.replace("v5", version), {});
      expect([200, 409]).toContain(reply.status); // an ASN of a number that is a stop already: 962
    }
  });

  test("obeys the same rules as any: the company of the document, all or nothing, unknown lists", async () => {
    const said = await refused("/v5/stop/update/same", { companyCode: "OTHER", stops: [{ stopNbr: "A" }] });
    expect(said).toContain("905 companyCode is OTHER, but the path names ACME");
    expect(said).toContain("(In the document that the integration same made of the body.)");
    const faulty = { companyCode: company, stops: [{ stopNbr: "A1" }, { stopNbr: "" }] };
    expect(await refused("/v5/stop/update/same", faulty)).toContain("stops[1].stopNbr");
    expect((await http(site, `/v5/stop/info/A1/${company}`)).status).toBe(404);
  });

  test("tells what to do when the expression gives one entry instead of a list", async () => {
    expect(await refused("/v5/stop/update/single", { lines: { number: "S1" } })).toMatch(
      /902 stops is not a list.*Write \[ \] around it/s,
    );
  });
});

describe("a body is refused", () => {
  const stops = "/v5/stop/update";
  test.each([
    ["of an integration that there is not", "mine", {}, "404\n908 there is no integration mine"],
    ["that is no JSON", "same", "{", "400\n900 the body is not JSON"],
    ["that has a key twice", "same", '{"a":1,"a":2}', '400\n900 the body has the key "a" twice'],
    [
      "that the expression refuses, with its words and the place",
      "picky",
      {},
      "400\n902 the integration picky cannot map the body: there are no lines (line 2, column 21 of its expression)",
    ],
    [
      "whose document has a function",
      "odd",
      {},
      "400\n902 the integration odd has made no document that can be taken: stops is a function",
    ],
    [
      "whose mapping takes too long",
      "stuck",
      {},
      "413\n909 the integration stuck has not mapped the body in its time of 500 ms",
    ],
    [
      "whose mapping takes too much memory",
      "bomb",
      {},
      "413\n909 the integration bomb needs more memory for the body than it may have",
    ],
  ])("%s", async (_what, name, body, words) => {
    const said = await refused(`${stops}/${name}`, body);
    expect(said).toContain(words);
    expect(said).not.toMatch(/node_modules| at \S+ \(|\.jsonata/);
    expect((await http(site, "/readyz")).status).toBe(200);
  });

  test("in the other form, and in one that no import takes", async () => {
    const xml = { type: "application/xml" };
    expect(await refused(`${stops}/same`, "<a/>", xml)).toContain(
      "942 the integration same takes JSON. Send Content-Type: application/json",
    );
    expect(await refused(`${stops}/planner`, {})).toContain(
      "942 the integration planner takes XML. Send Content-Type: application/xml",
    );
    expect(await refused(`${stops}/default`, "<a/>", xml)).toContain("415\n942");
    expect(await refused(`${stops}/same`, "a", { type: "text/plain" })).toContain("415\n942");
  });

  test.each([
    ["that is not well-formed", "<a>", "400\n950"],
    ["with entities", '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', "400\n957"],
    ["nested without end", "<a>".repeat(100) + "</a>".repeat(100), "413\n909"],
  ])("of XML %s", async (_what, xml, words) => {
    expect(await refused(`${stops}/planner`, xml, { type: "application/xml" })).toContain(words);
  });

  test("of a company that may not use it", async () => {
    const guest = { userName: "guest", to: "OTHER" };
    expect(await refused("/v6/order/update/erp", {}, guest)).toContain("908 there is no integration erp");
    expect(await refused(`${stops}/picky`, {}, guest)).toContain("there are no lines");
  });

  test("of a user of another company before anything is mapped", async () => {
    expect((await send(`${stops}/same`, {}, { userName: "guest" })).status).toBe(401);
  });
});

describe("a reload", () => {
  test("takes a changed expression, and keeps the old one when the new one is broken", async () => {
    const { daemon } = site;
    await writeFile(integration("picky"), '$error("second")');
    daemon.process.kill("SIGHUP");
    await daemon.waitForLog(({ msg }) => msg === "configuration reloaded");
    expect(await refused("/v5/stop/update/picky", {})).toContain("second");
    await writeFile(integration("picky"), '$error("third"');
    daemon.process.kill("SIGHUP");
    const { faults } = await daemon.waitForLog(({ msg }) => msg.startsWith("the configuration is faulty"));
    expect(JSON.stringify(faults)).toContain("integrations.picky.file");
    expect(await refused("/v5/stop/update/picky", {})).toContain("second");
  });

  test("of a broken expression would not have been a start: exit code 2 and the place", async () => {
    const run = new DaemonRun(site.configFile, {});
    expect(await run.exit).toBe(2);
    expect(run.text).toMatch(/picky\.jsonata:1:\d+: integrations\.picky\.file: cannot be used/);
    const check = await site.cli("check");
    expect(check.exitCode).toBe(2);
    expect(check.stdout).toMatch(/problem +\S*picky\.jsonata:1:/);
    const list = await site.cli("integration", "list");
    expect([list.exitCode, list.stdout]).toEqual([1, expect.stringContaining("(cannot be used)")]);
    await writeFile(integration("picky"), expressions.picky);
  });
});

describe("dropgate integration test", () => {
  interface Tried {
    readonly document?: { readonly loads?: readonly object[] };
    readonly importKind?: string;
    readonly reasons: readonly { readonly reasonCode: number; readonly path?: string }[];
  }

  async function trial(
    name: string,
    file: string,
    ...more: string[]
  ): Promise<{ code: number; tried: Tried }> {
    const { exitCode, stdout } = await site.cli(
      "integration",
      "test",
      name,
      file,
      "--company",
      company,
      "--json",
      ...more,
    );
    return { code: exitCode, tried: JSON.parse(stdout) as Tried };
  }

  async function body(value: unknown): Promise<string> {
    const file = join(site.folder, "body.json");
    await writeFile(file, JSON.stringify(value));
    return file;
  }

  test("shows the document of each sample, and that it would be taken", async () => {
    const xml = await trial("planner", join(samples, "route-export.xml"));
    expect(xml).toMatchObject({ code: 0, tried: { importKind: "loads", reasons: [] } });
    expect(xml.tried.document?.loads).toHaveLength(1);
    const text = await site.mustRun(
      "integration",
      "test",
      "erp",
      join(samples, "erp-orders.json"),
      "--company",
      company,
    );
    expect(text).toContain('"orderNbr": "4711"');
    expect(text).toContain("The import of orders would be taken");
  });

  test("tells what the import would say, with exit code 1, and writes nothing", async () => {
    const asn = { companyCode: company, stops: [{ stopNbr: "T1" }, { stopNbr: "V1" }] };
    const stops = await trial("same", await body(asn));
    expect(stops).toMatchObject({ code: 0, tried: { importKind: "stops", reasons: [] } });
    const asns = await trial("same", await body(asn), "--as", "asn");
    expect(asns).toMatchObject({ code: 1, tried: { reasons: [{ reasonCode: 962 }] } });
    const broken = await trial("same", await body({ companyCode: company, orders: [{}] }));
    expect(broken).toMatchObject({
      code: 1,
      tried: { importKind: "orders", reasons: [{ reasonCode: 901 }] },
    });
    expect((await http(site, `/v5/stop/info/T1/${company}`)).status).toBe(404);
  });

  test("tells why there is no document", async () => {
    expect(await trial("picky", await body({}))).toMatchObject({
      code: 1,
      tried: { reasons: [{ reasonCode: 902 }] },
    });
    expect(await trial("same", await body({ other: 1 }))).toMatchObject({
      code: 1,
      tried: { reasons: [{ reasonCode: 903 }] },
    });
  });

  test("is wrong use of a name or file that is not there", async () => {
    const unknown = await site.cli("integration", "test", "mine", site.configFile, "--company", company);
    expect([unknown.exitCode, unknown.output]).toEqual([
      2,
      expect.stringContaining("there is no integration mine"),
    ]);
    const missing = await site.cli("integration", "test", "same", "/nowhere", "--company", company);
    expect([missing.exitCode, missing.output]).toEqual([
      2,
      expect.stringContaining("there is no file /nowhere"),
    ]);
  });
});

test("a daemon that is killed leaves no mapping process behind", async () => {
  const { pid } = site.daemon;
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8"))
    .trim()
    .split(" ")
    .map(Number);
  expect(children.length).toBeGreaterThan(0);
  await site.kill();
  await waitFor("the mapping processes to end", () => (children.some(isAlive) ? undefined : true));
});
