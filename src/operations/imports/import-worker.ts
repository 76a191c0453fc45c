/**
 * A reader thread: parses large bodies, and prepares the entries of imports for writing. One body at a time. The main
 * thread requests the entries part by part, so that it can serve others in between.
 */
import { parentPort } from "node:worker_threads";
import type { Load } from "../../domain/load/load.ts";
import { stepBack } from "../../lib/threads/background-thread.ts";
import { DropgateError, messageOf, systemCodeOf } from "../../lib/errors.ts";
import { tellLoaded } from "../../lib/threads/hosted-worker.ts";
import { parseJsonBytes } from "../../lib/json-text.ts";
import { preparePartners } from "./business-partners.ts";
import { prepareCustomers } from "./import-customers.ts";
import { prepareLoads } from "./import-loads.ts";
import { prepareOrders } from "./import-orders.ts";
import type { Preparations } from "./import-preparation.ts";
import { prepareStops } from "./import-stops.ts";
import { prepareUsers } from "./import-users.ts";
import { loadText } from "./load-text.ts";
import { readRouteEvent, type SentEvent } from "../execution/read-route-event.ts";
import { ownBytes, type ReaderJob, type ReaderReport, type ReaderRequest } from "./import-worker-messages.ts";

const preparations: Preparations = {
  stops: prepareStops,
  orders: prepareOrders,
  loads: prepareLoads,
  customers: prepareCustomers,
  businessPartners: preparePartners,
  users: prepareUsers,
};

const entriesInPart = 100;

let waiting: readonly unknown[] = [];

function send(report: ReaderReport, owned: ArrayBuffer[] = []): void {
  parentPort?.postMessage(report, owned);
}

function sendPart(): void {
  const entries = waiting.slice(0, entriesInPart);
  waiting = waiting.slice(entriesInPart);
  send({ kind: "entries", entries, isLast: waiting.length === 0 });
}

function failureOf(thrown: unknown): ReaderReport {
  if (thrown instanceof DropgateError) {
    const { code, message, faults } = thrown;
    return { kind: "refused", code, message, faults };
  }
  return { kind: "failed", message: messageOf(thrown), systemCode: systemCodeOf(thrown) };
}

/** The bytes of its documents are transferred, not copied. */
function sendEvent(event: SentEvent): void {
  const contents = event.contents.map(({ document, bytes }) => ({ document, bytes: ownBytes(bytes) }));
  send(
    { kind: "event", event: { ...event, contents } },
    contents.map(({ bytes }) => bytes.buffer),
  );
}

async function work(job: ReaderJob): Promise<void> {
  try {
    const value = parseJsonBytes(job.bytes, job.limits);
    if (job.kind === "lines") {
      // Stored text was checked as a load before.
      const bytes = new TextEncoder().encode(loadText(value as Load));
      send({ kind: "checked", bytes }, [bytes.buffer]);
      return;
    }
    if (job.kind === "check") {
      send({ kind: "checked", bytes: job.bytes }, [job.bytes.buffer as ArrayBuffer]);
      return;
    }
    if (job.kind === "event") {
      sendEvent(readRouteEvent({ ...job.input, body: value }));
      return;
    }
    waiting = await preparations[job.prepared]({ ...job.input, body: value });
    sendPart();
  } catch (thrown) {
    send(failureOf(thrown));
  }
}

function serve(): void {
  stepBack();
  parentPort?.on("message", (request: ReaderRequest) => {
    if (request.kind === "next") sendPart();
    else void work(request);
  });
  tellLoaded();
}

if (parentPort !== null) serve();
