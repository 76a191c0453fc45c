/** One hurts only itself: inputs that are made to hurt have their own answer, while the files of another company are applied. */
import { join } from "node:path";
import { readdirSync, readFileSync } from "node:fs";
import { appendFile, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { forgetFailedSignIns } from "../support/site-database.ts";
import { itOnSqlite } from "../support/store-dialect.ts";
import { http } from "../support/clients.ts";
import { importLoads } from "../support/gateway-client.ts";
import { company } from "../support/daemon.ts";
import { damageTable } from "../support/damage-database.ts";
import { canMountShares, type FrozenShare } from "../support/frozen-share.ts";
import {
  deepJson,
  eventWithDocuments,
  loadImportOfManyStops,
  slowStop,
  stopImportOfManyValues,
} from "../support/hostile-content.ts";
import { attackers, HostileGround, type HttpAnswer } from "../support/hostile-ground.ts";
import { amount } from "../support/sampled.ts";
import { fileName, parseReceipt, type Receipt, send, stopElement, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

const { other: hostile } = attackers;
const stopsPath = "/v5/stop/update/default";

let ground: HostileGround;

beforeAll(async () => {
  ground = await HostileGround.make(
    {
      inbound: { settleMs: 100, scanMs: 200 },
      http: { requestTimeoutMs: 600_000, headersTimeoutMs: 60_000 },
    },
    amount(3_000, 10_000),
  );
});
afterAll(() => ground.end());
afterEach(() => ground.hangUp());

/** A file of the other company: its receipt is there when this resolves. */
async function goodFile(): Promise<Receipt> {
  return await send(ground.site, stopFile(`G${ground.next()}`));
}

const applied = { status: 10, records: [1, 0, 0] };

function codes({ status, body }: HttpAnswer): string {
  return [status, ...[...body.matchAll(/"reasonCode":(\d+)/g)].map(([, code]) => code)].join(" ");
}

describe("files", () => {
  test("that take the parser seconds each get their refusals; the documents of others do not wait for them", async () => {
    const slow = Array.from({ length: 6 }, () => slowStop(`H${ground.next()}`, amount(11_000, 19_999)));
    const names = slow.map(({ name }) => name);
    const answered = () => names.filter((name) => ground.hasReceipt(hostile, name)).length;
    await ground.upload(hostile, slow);
    const before = answered();
    for (let nth = 0; nth < 5; nth += 1) {
      const body = stopElement(`W${ground.next()}`);
      const answer = await http(ground.site, `/api/stop/${company}`, { body, type: "application/xml" });
      expect(parseReceipt(answer.body)).toMatchObject(applied);
    }
    // In one line with those of the other company, each would have come behind several of them.
    expect(answered() - before).toBeLessThan(3);
    expect(await goodFile()).toMatchObject(applied);
    expect((await fetch(`${ground.site.http}/readyz`)).status).toBe(200);
    const [receipt] = await ground.receipts(hostile, names.slice(0, 1));
    expect(receipt?.status).toBe(99);
    expect(receipt?.errors[0]?.text).toContain("found no Function");
  });

  test("of gigabytes in a drop folder are refused with 909 for their size", async () => {
    const name = fileName(`H${ground.next()}`);
    const size = amount(1, 8) * 1024 ** 3;
    await ground.dropSparse(hostile, name, size);
    expect(await goodFile()).toMatchObject(applied);
    const [receipt] = await ground.receipts(hostile, [name]);
    expect(receipt?.errors[0]).toMatchObject({ code: 909, text: expect.stringContaining(String(size)) });
  });
});

describe("bodies", () => {
  test("with too many values or levels are refused with 909, and others are applied", async () => {
    const { companyCode } = hostile;
    const answers = Promise.all(
      [stopImportOfManyValues(companyCode, 3_000_000), deepJson(companyCode, 9_000_000)].map((body) =>
        ground.ask(hostile, stopsPath, { body }),
      ),
    );
    expect(await goodFile()).toMatchObject(applied);
    expect((await answers).map(codes)).toEqual(["413 909", "413 909"]);
  });

  test("that never come to their end keep nobody waiting", async () => {
    const authorization = ground.authorization(hostile);
    const head = `POST ${stopsPath}/${hostile.companyCode} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: ${authorization}\r\nContent-Length: 60000\r\n\r\n{`;
    const open = Array.from({ length: 100 }, (_, nth) => ground.connect(ground.httpPort, nth));
    for (const socket of open) socket.resume().write(head);
    expect(await goodFile()).toMatchObject(applied);
    expect((await http(ground.site, "/v5/stop/info/NONE/ACME")).status).toBe(404);
    expect(open.filter(({ destroyed }) => destroyed)).toEqual([]);
  });

  test("that a mapping takes its whole time for are refused with 909; meanwhile others map theirs", async () => {
    const answered: HttpAnswer[] = [];
    // The first of the other company: from then on it counts as there.
    const mapped = () =>
      http(ground.site, "/v5/stop/update/fixed/ACME", { body: "{}", type: "application/json" });
    expect((await mapped()).status).toBe(200);
    const stuck = Array.from({ length: 2 }, () =>
      ground
        .ask(hostile, "/v5/stop/update/stuck", { body: '{"stops":[]}' })
        .then((one) => answered.push(one)),
    );
    expect((await mapped()).status).toBe(200);
    expect(answered).toEqual([]);
    expect(await goodFile()).toMatchObject(applied);
    await Promise.all(stuck);
    expect(answered.map(codes)).toEqual(["413 909", "413 909"]);
  });
});

async function importLoad(body: string): Promise<string> {
  const answer = await ground.ask(hostile, "/v5/load/update/default", { body });
  expect(answer.status, answer.body).toBe(200);
  return (JSON.parse(answer.body) as { importId: string }).importId;
}

async function importStatus(importId: string): Promise<string> {
  return await waitFor("the import to be finished", async () => {
    const { body } = await ground.ask(hostile, `/v5/import/info/${importId}`);
    const info = JSON.parse(body) as { status: string; finishedDTTM: string | null };
    return info.finishedDTTM === null ? undefined : info.status;
  });
}

const report = (body: string) => ground.ask(hostile, "/v5/event/route", { body });

const stampOf = (routeNbr: string) => ({
  ...{ routeNbr, geoStamp: { eventDTTM: new Date().toISOString().slice(0, 19), eventTz: "UTC" } },
});

test("an event with documents of 14 MB is kept, and so are the loads of an import of the largest size", async () => {
  const { companyCode } = hostile;
  await ground.site.addUser("otis", ["DI_Driver"], companyCode);
  const loadAssignment = { driverUserName: "otis" };
  const load = { loadHeader: { loadNbr: "BIG" }, stops: [{ stopNbr: "BIG-1" }], loadAssignment };
  await importStatus(await importLoad(JSON.stringify({ companyCode, loads: [load] })));
  for (const eventCode of ["route.initiated", "route.origin.depart"])
    expect((await report(JSON.stringify({ eventCode, ...stampOf("BIG") }))).status).toBe(200);
  const event = report(eventWithDocuments("BIG", "BIG-1", 19_000_000));
  const importId = await importLoad(loadImportOfManyStops(companyCode, "BIG"));
  expect(await goodFile()).toMatchObject(applied);
  expect(codes(await event)).toBe("200");
  const detail = (await ground.ask(hostile, "/v5/stop/info/BIG-1")).body;
  const reference = /"reference":"([^"]+)"/.exec(detail)?.[1];
  const { body } = await ground.ask(hostile, `/api/document/${reference}`);
  expect([body.length, body.replaceAll("ABC", "")]).toEqual([14_250_000, ""]);
  expect(await importStatus(importId)).toBe("Success");
});

describe("connections", () => {
  test("on which nobody signs in, or reads the answers, keep nobody waiting", async () => {
    const { sftpPort } = ground.site;
    for (let nth = 0; nth < 200; nth += 1)
      ground.connect(nth % 2 === 0 ? sftpPort : ground.httpPort, nth).resume();
    const list = `/v5/event/list/${hostile.companyCode}?limit=5000`;
    const asked = `GET ${list} HTTP/1.1\r\nHost: x\r\nAuthorization: ${ground.authorization(hostile)}\r\n\r\n`;
    for (let nth = 0; nth < 20; nth += 1) ground.connect(ground.httpPort, nth).write(asked.repeat(20));
    expect(await goodFile()).toMatchObject(applied);
    expect((await http(ground.site, "/v5/stop/info/NONE/ACME")).status).toBe(404);
  });

  test("that guess passwords are banned with 429, and others sign in", async () => {
    const guess = (nth: number) =>
      ground.ask(hostile, "/v5/stop/info/A1", { userName: `nobody${nth}`, password: `guess${nth}` });
    const statuses = new Set<number>();
    for (let nth = 0; nth < 40; nth += 10) {
      const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => guess(nth + at)));
      for (const { status } of answers) statuses.add(status);
    }
    expect([...statuses].sort()).toEqual([401, 429]);
    expect(await goodFile()).toMatchObject(applied);
    // The one whose address it was, too, when the ban is over; here it is lifted by a restart.
    await ground.site.stop();
    forgetFailedSignIns(ground.site);
    await ground.site.start();
  });
});

test.skipIf(!canMountShares)(
  "a share that hangs, as source and as target, holds up its own alone",
  async () => {
    const { share, site } = ground;
    if (share === undefined) throw new Error("there is no share");
    const file = stopFile(`Z${ground.next()}`);
    share.freeze();
    const writing = writeFile(join(share.path, "in", file.name), file.content);
    const body = JSON.stringify({ companyCode: hostile.companyCode, stops: [{ stopNbr: "ON-SHARE" }] });
    expect((await ground.ask(hostile, stopsPath, { body })).status).toBe(200);
    for (let nth = 0; nth < 3; nth += 1) expect(await goodFile()).toMatchObject(applied);
    expect((await http(site, "/v5/stop/info/NONE/ACME")).status).toBe(404);
    share.thaw();
    await writing;
    expect((await ground.receipts(hostile, [file.name])).map(({ status }) => status)).toEqual([10]);
  },
);

/** The threads of the daemon that wait for an answer of the share. */
function hangingThreads(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).filter((id) =>
    /^request_wait|^fuse/.test(readFileSync(join(tasks, id, "wchan"), "utf8")),
  ).length;
}

/**
 * Freezes it at a look at several files. Files settle in groups, as they were found: a look at one alone keeps one thread, and is
 * let go on; the looks that are overdue by then come next.
 */
async function freezeAtLook(share: FrozenShare, pid: number): Promise<void> {
  for (;;) {
    share.freeze();
    const begunAt = performance.now();
    while (performance.now() - begunAt < 15_000) {
      if (hangingThreads(pid) > 1) return;
      await pause(100);
    }
    share.thaw();
    await waitFor("the look to end", () => hangingThreads(pid) === 0);
  }
}

async function dieWhileLookedAt({ share, site }: HostileGround): Promise<void> {
  if (share === undefined) throw new Error("there is no share");
  const names = Array.from({ length: 40 }, (_, nth) => fileName(`Z${nth}`));
  // Over the share, so that its watch tells the daemon of them.
  for (const name of names) await writeFile(join(share.path, "in", name), "<");
  const before = await share.askedBytes();
  // Files that grow are looked at together, again and again.
  let isGrowing = true;
  const growing = (async () => {
    for (; isGrowing; await pause(20))
      for (const name of names) await appendFile(join(share.served, "in", name), " ");
  })();
  try {
    await waitFor("the files to be looked at", async () => (await share.askedBytes()) > before + 40 * 40);
    await freezeAtLook(share, site.daemon.pid);
    for (let nth = 0; nth < 3; nth += 1) expect(await send(site, stopFile(`G${nth}`))).toMatchObject(applied);
    expect(hangingThreads(site.daemon.pid)).toBeLessThan(8);
  } finally {
    isGrowing = false;
    await growing;
    share.thaw();
  }
}

test.skipIf(!canMountShares)(
  "a share that dies with many files in it leaves most threads to the uploads of others",
  async () => {
    // Looks alone: a scan would hang at the listing, with one call. They lie further apart than the kernel trusts the sizes
    // that a share has told, and further than a busy machine needs to have all of them grow, so that they never settle.
    const own = await HostileGround.make({ inbound: { settleMs: 5_000, scanMs: 3_600_000 } });
    onTestFinished(() => own.end());
    await dieWhileLookedAt(own);
  },
);

itOnSqlite("files for a damaged page are held, and those of others are applied", async () => {
  const { site } = ground;
  const stops = Array.from({ length: 120 }, (_, index) => stopFile(`PAGE${index}`));
  await ground.upload(hostile, stops);
  await ground.receipts(
    hostile,
    stops.map(({ name }) => name),
  );
  await site.stop();
  const isDamaged = (page: Buffer) => page.includes("PAGE70");
  expect(damageTable(join(site.stateDir, "dropgate.db"), "stops", isDamaged)).toBe(1);
  await site.start();
  const touching = stopFile("PAGE70", { time: "090000" });
  await ground.upload(hostile, [touching]);
  await site.daemon.waitForLog(({ msg }) => msg === "the database is damaged");
  expect(await goodFile()).toMatchObject(applied);
  const another = stopFile("UNHURT", { time: "100000" });
  await ground.upload(hostile, [another]);
  expect((await ground.receipts(hostile, [another.name])).map(({ status }) => status)).toEqual([10]);
  expect(ground.hasReceipt(hostile, touching.name)).toBe(false);

  // More than the importer takes at a time; they list the stop that cannot be read.
  const load = (loadNbr: string, stopNbr: string) => ({ loadHeader: { loadNbr }, stops: [{ stopNbr }] });
  const hurt = Array.from({ length: 20 }, (_, index) => load(`HURT${index}`, "PAGE70"));
  const { companyCode } = hostile;
  const importId = await importLoad(JSON.stringify({ companyCode, loads: hurt }));
  const loads = [load("UNHURT", "FREE-1")];
  expect(await importStatus(await importLoad(JSON.stringify({ companyCode, loads })))).toBe("Success");
  expect(await importLoads(site, [load("OTHERS", "FREE-2")])).toMatchObject({ status: "Success" });
  expect((await ground.ask(hostile, `/v5/import/info/${importId}`)).body).toContain('"finishedDTTM":null');
  const told = site.daemon.log.filter(({ msg }) => msg.startsWith("an imported load cannot be applied now"));
  expect(told.map(({ loadNbr }) => loadNbr)).toContain("HURT0");
});
