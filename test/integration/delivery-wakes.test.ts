/** Whatever records an event wakes the delivery queue: no delivery waits for the look that comes each second. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { ReleaseStack } from "../../src/app/daemon/service-group.ts";
import { startOutbound } from "../../src/app/daemon/outbound.ts";
import { createDocumentPool } from "../../src/documents/pool/document-pool.ts";
import { submitStopDocument } from "../../src/inbound/submit-stop-document.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { importOrders } from "../../src/operations/imports/import-orders.ts";
import { rejectStop } from "../../src/operations/stops/reject-stop.ts";
import { soleOwnership } from "../../src/store/cluster/ownership.ts";
import { configOf } from "../support/message-site.ts";
import { dropoff, RouteDriver } from "../support/route-driver.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const log = createLogger({ level: "silent" });
const documents = createDocumentPool({ log, threads: 1 });
beforeAll(() => documents.start(new AbortController().signal));
afterAll(() => documents.stop(new AbortController().signal));
afterEach(() => vi.useRealTimers());

const received = { stopNbr: "S1", markAsReceived: true };

/** Ways in which an event comes to be recorded that asks for a file. */
const ways: Readonly<Record<string, (route: RouteDriver) => Promise<unknown>>> = {
  "a stop import": (route) => route.site.importStops(received),
  "an order import": ({ site }) =>
    site.call(importOrders, {
      ...{ ...site.at, serviceName: "default" },
      body: { companyCode: "ACME", orders: [{ orderNbr: "S1", markAsReceived: true }] },
    }),
  "a load import": (route) => route.load([received]),
  "an XML document": ({ site: { store, companyId, now } }) => {
    const bytes = Buffer.from(
      "<Stop><Function>01</Function><StopNbr>S1</StopNbr><MarkAsReceived>true</MarkAsReceived></Stop>",
    );
    const submission = { companyId, companyCode: "ACME", userName: "host", requestId: "r", bytes };
    return submitStopDocument({ store, documents, clock: { now: () => now } }, submission);
  },
  "a route event": async (route) => {
    await route.load([dropoff]);
    await route.report("route.initiated");
    await route.report("stop.dropoff.confirmation", { stopNbr: "D1" });
  },
  "a deletion": async (route) => {
    await route.site.importStops({ stopNbr: "S1" });
    await route.site.call(rejectStop, { ...route.site.at, body: { stopNbr: "S1", reasonCode: "R" } });
  },
};

test.each(Object.entries(ways))("%s", async (_way, record) => {
  const route = await RouteDriver.open();
  const stateDir = temporaryFolder();
  const config = await configOf({
    outbound: { on: [8100, 7059], targets: { host: { type: "folder", path: join(stateDir, "out") } } },
  });
  mkdirSync(join(stateDir, "out"));
  const stack = new ReleaseStack(log);
  // The look that comes each second never comes.
  vi.useFakeTimers({ toFake: ["setInterval"] });
  await startOutbound({
    ...{ store: route.site.store, clock: { now: () => route.site.now }, log, stack },
    cluster: { ownership: soleOwnership, keeper: undefined, incarnation: undefined, changeClock: undefined },
    ...{ signal: new AbortController().signal, stateDir, documentsDir: stateDir, config: () => config },
  });
  try {
    await record(route);
    await waitFor("the file to be delivered", async () => {
      const names = readdirSync(join(stateDir, "out"));
      return names.find((name) => name.endsWith(".xml"));
    });
  } finally {
    await stack.releaseAll(AbortSignal.timeout(10_000));
  }
  expect(await route.site.store.read.selectFrom("completions").select("id").execute()).toHaveLength(1);
});
