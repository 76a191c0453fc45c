/**
 * The thread of the queries: answers each with what the function of its name finds, by a connection of its own that cannot
 * write. Queries that wait for files let others go on meanwhile, and so does each after a statement.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { Config } from "../../config/schema.ts";
import type { Scope } from "../../endpoints/http/console/console-services.ts";
import { ledgerNumberKind } from "../../inbound/receipts/receipts.ts";
import { DropgateError, messageOf } from "../../lib/errors.ts";
import { createSealedNumbers } from "../../lib/sealed-numbers.ts";
import { stepBack } from "../../lib/threads/background-thread.ts";
import { tellLoaded } from "../../lib/threads/hosted-worker.ts";
import { openReader } from "../../store/database/open-reader.ts";
import { connectionOf } from "../../store/database/prepared-query.ts";
import type { QueryContext } from "./query-context.ts";
import { longestQueryMs, type QueryOrder, type QueryReport, type QuerySetup } from "./query-messages.ts";

/** The function of a query. What it is asked is checked by the types of the host. */
export type QueryFunction = (context: QueryContext, scope: Scope, asked: never) => Promise<unknown>;

type Ask = Extract<QueryOrder, { kind: "ask" }>;

function faultReport(id: number, error: unknown): QueryReport {
  if (error instanceof DropgateError) {
    const { code, message, faults } = error;
    return { kind: "refused", id, code, message, faults };
  }
  const stack = error instanceof Error ? error.stack : undefined;
  return { kind: "failed", id, message: messageOf(error), stack };
}

async function answerTo(
  functions: Readonly<Record<string, QueryFunction>>,
  context: Omit<QueryContext, "now" | "timeLeftMs">,
  { id, name, scope, asked, timeMs }: Ask,
): Promise<QueryReport> {
  const until = performance.now() + timeMs;
  try {
    const run = functions[name];
    if (run === undefined) throw new Error(`there is no query ${name}`);
    const timeLeftMs = () => Math.max(0, until - performance.now());
    const found = await run({ ...context, now: Date.now(), timeLeftMs }, scope, asked as never);
    return { kind: "found", id, found };
  } catch (error) {
    return faultReport(id, error);
  }
}

/** To be called by the module of the thread. Rejects where the database cannot be opened, which ends the thread. */
export async function serveQueries(functions: Readonly<Record<string, QueryFunction>>): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error("queries are served by a thread");
  stepBack();
  const { stateDir, url, numberKey, config: first } = workerData as QuerySetup;
  const { read } = await openReader({ stateDir, url }, { statementMs: longestQueryMs });
  // Of several that search, none holds up the others for longer than a statement of its own.
  (await connectionOf(read)).giveTurnsEvery(1);
  const ledgerNumbers = createSealedNumbers(numberKey, ledgerNumberKind);
  let config: Config = first;
  const tell = (report: QueryReport) => port.postMessage(report);
  port.on("message", (order: QueryOrder) => {
    if (order.kind === "configure") config = order.config;
    else if (order.kind === "ping") tell({ kind: "pong" });
    else {
      tell({ kind: "begun", id: order.id });
      void answerTo(functions, { read, stateDir, config, ledgerNumbers }, order).then(tell);
    }
  });
  tellLoaded();
}
