/** What a client reads over HTTP is never older than what it could know when it asked. */
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createOperationContext } from "../../src/app/daemon/operation-context.ts";
import { createDocumentPool } from "../../src/documents/pool/document-pool.ts";
import { noAppointments } from "../../src/domain/appointments/appointment-region.ts";
import { callWith } from "../../src/endpoints/http/server/operation-context.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { newSealingKey } from "../../src/lib/sealed-numbers.ts";
import { openStore } from "../../src/store/database/database.ts";
import { ask, basic, startHttp } from "../support/http-fixture.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { changeRows, type SitePlace } from "../support/site-database.ts";
import { isOnPostgres } from "../support/store-dialect.ts";
import { storeSettingsOf } from "../support/store-url.ts";

/** Those of the fixture's users. */
const companies = { ACME: 7, other: 8 } as const;

let port = 0;
/** Where another process, or another connection as SQLite has it, finds the database. */
let place: SitePlace;

beforeEach(async () => {
  const folder = temporaryFolder();
  const store = await openStore(folder);
  storeSettingsOf(folder, folder);
  place = { folder, stateDir: folder };
  const insert = "insert into companies (id, code, code_key, created_at) values (?, ?, ?, 1)";
  for (const [code, id] of Object.entries(companies)) changeRows(place, insert, id, code, code.toLowerCase());
  const context = createOperationContext({
    ...{ store, clock: systemClock, documentsDir: join(folder, "documents"), numberKey: newSealingKey() },
    documents: createDocumentPool({ log: createLogger({ level: "silent" }), threads: 1 }),
    appointments: () => noAppointments,
    events: () => ({
      autoDepart: false,
      geofenceRadius: 200,
      averageSpeedKmh: 45,
      etaIntervalMs: 30_000,
      maxAheadHours: 48,
    }),
  });
  const http = await startHttp({}, { call: callWith(context) });
  port = http.port;
  onTestFinished(async () => {
    await http.close();
    await store.close();
  });
});

const pathOf = (stopNbr: string) => `/v5/stop/info/${stopNbr}/ACME`;
const importPath = "/v5/stop/update/default/ACME";

function bodyOf(stopNbr: string, shipmentNbr: string): string {
  return JSON.stringify({ companyCode: "ACME", stops: [{ stopNbr, stopType: "DO", shipmentNbr }] });
}

async function importStop(stopNbr: string, shipmentNbr: string): Promise<void> {
  const content = bodyOf(stopNbr, shipmentNbr);
  const reply = await ask(port, "POST", importPath, { user: "host", type: "application/json", content });
  expect(reply).toMatchObject({ status: 200 });
}

async function shipmentOf(stopNbr: string): Promise<unknown> {
  const reply = await ask(port, "GET", pathOf(stopNbr), { user: "host" });
  return reply.status === 200 ? JSON.parse(reply.body).Stop.stop.shipmentNbr : reply.status;
}

const changedBody = isOnPostgres
  ? "jsonb_set(body::jsonb, '{shipmentNbr}', to_jsonb(?::text))::text"
  : "json_set(body, '$.shipmentNbr', ?)";

function rewriteElsewhere(shipmentNbr: string): void {
  changeRows(place, `update stops set body = ${changedBody} where company_id = 7`, shipmentNbr);
}

const head = (method: string, path: string) =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("host")}\r\n`;

function post(stopNbr: string, shipmentNbr: string): string {
  const body = bodyOf(stopNbr, shipmentNbr);
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return `${head("POST", importPath)}${type}${body}`;
}

const get = (stopNbr: string) => `${head("GET", pathOf(stopNbr))}\r\n`;

interface Line {
  /** Sends the text; resolves with the bodies of so many answers. */
  send(text: string, answers: number): Promise<readonly string[]>;
}

/** The bodies of the whole answers in what has come. */
function bodiesIn(text: string): string[] {
  const bodies: string[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(rest.slice(0, end))?.[1]);
    if (end === -1 || rest.length < end + 4 + length) return bodies;
    bodies.push(rest.slice(end + 4, end + 4 + length));
    rest = rest.slice(end + 4 + length);
  }
}

async function openLine(): Promise<Line> {
  const socket: Socket = connect(port, "127.0.0.1").setNoDelay(true);
  onTestFinished(() => void socket.destroy());
  await new Promise((done) => socket.once("connect", done));
  return {
    send: (text, answers) =>
      new Promise((resolve) => {
        let received = "";
        const onData = (chunk: Buffer) => {
          received += chunk.toString("latin1");
          const bodies = bodiesIn(received);
          if (bodies.length < answers) return;
          socket.off("data", onData);
          resolve(bodies);
        };
        socket.on("data", onData);
        socket.write(text);
      }),
  };
}

const shipmentIn = (body: string | undefined) => JSON.parse(body ?? "").Stop?.stop.shipmentNbr;

describe("a read after a write", () => {
  it("sees it, however often the stop was read before", async () => {
    expect(await shipmentOf("S1")).toBe(404);
    for (let round = 0; round < 20; round += 1) {
      await importStop("S1", `A${round}`);
      expect([await shipmentOf("S1"), await shipmentOf("S1")]).toEqual([`A${round}`, `A${round}`]);
    }
  });

  it("sees it when both are sent at once over one connection", async () => {
    const line = await openLine();
    for (let round = 0; round < 20; round += 1) {
      const shipments = [`A${round}`, `B${round}`];
      const [first, second] = shipments.map((shipment) => post("S1", shipment) + get("S1"));
      const bodies = await line.send(`${get("S1")}${first}${second}`, 5);
      expect([shipmentIn(bodies[2]), shipmentIn(bodies[4])]).toEqual(shipments);
    }
  });

  it("sees it over another connection on which reads come without a pause", async () => {
    await importStop("S1", "0");
    const [writer, ...readers] = await Promise.all(Array.from({ length: 9 }, openLine));
    let isOver = false;
    const busy = readers.slice(1).map(async (reader) => {
      while (!isOver) await reader.send(get("S1"), 1);
    });
    for (let round = 1; round <= 200; round += 1) {
      await writer?.send(post("S1", String(round)), 1);
      const bodies = await readers[0]?.send(get("S1"), 1);
      expect(shipmentIn(bodies?.[0])).toBe(String(round));
    }
    isOver = true;
    await Promise.all(busy);
  });
});

describe("a read after a commit of another process", () => {
  it("sees it, also when other reads are answered meanwhile", async () => {
    await importStop("S1", "0");
    const lines = await Promise.all(Array.from({ length: 8 }, openLine));
    const [reader, ...rest] = lines;
    let isOver = false;
    const busy = rest.map(async (line) => {
      while (!isOver) await line.send(get("S1"), 1);
    });
    for (let round = 1; round <= 200; round += 1) {
      rewriteElsewhere(String(round));
      const bodies = await reader?.send(get("S1"), 1);
      expect(shipmentIn(bodies?.[0])).toBe(String(round));
    }
    isOver = true;
    await Promise.all(busy);
  });

  it("sees it as the second of two over one connection, when the first was answered before", async () => {
    await importStop("S1", "0");
    const line = await openLine();
    for (let round = 1; round <= 50; round += 1) {
      await line.send(get("S1"), 1);
      rewriteElsewhere(String(round));
      const bodies = await line.send(get("S1") + get("S1"), 2);
      expect(bodies.map(shipmentIn)).toEqual([String(round), String(round)]);
    }
  });
});

describe("a detail", () => {
  it("of a company that has the stop no more is not given, nor that of a stop for a load", async () => {
    await importStop("S1", "0");
    expect(await shipmentOf("S1")).toBe("0");
    expect((await ask(port, "GET", "/v5/load/info/S1/ACME", { user: "host" })).status).toBe(404);
    changeRows(place, "update stops set company_id = 8 where company_id = 7");
    expect(await shipmentOf("S1")).toBe(404);
  });

  it("is the same bytes under the same headers, however often it is read, and over both versions", async () => {
    await importStop("Sé 1", "ü");
    const path = pathOf(encodeURIComponent("Sé 1"));
    const replies = [];
    for (const version of ["v5", "v5", "v6"])
      replies.push(await ask(port, "GET", path.replace("v5", version), { user: "host" }));
    const shown = replies.map(({ status, body, headers }) => ({
      ...{ status, body },
      headers: { ...headers, date: "", "x-request-id": "" },
    }));
    expect(shown[0]).toMatchObject({ status: 200 });
    expect(shown[1]).toEqual(shown[0]);
    expect(shown[2]).toEqual(shown[0]);
    expect(replies[0]?.headers["content-length"]).toBe(String(Buffer.byteLength(replies[0]?.body ?? "")));
  });

  it("that was not there is found as soon as it is", async () => {
    expect([await shipmentOf("S1"), await shipmentOf("S1")]).toEqual([404, 404]);
    await importStop("S1", "0");
    expect(await shipmentOf("S1")).toBe("0");
  });
});
