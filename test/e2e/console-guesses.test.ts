/** Ten thousand sign-ins to the console by somebody who guesses, from several addresses and under many names. */
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { consoleBase, makeConsoleSite, signInToConsole } from "../support/console.ts";
import { oneParser, type Site } from "../support/daemon.ts";
import { rowsOf } from "../support/site-database.ts";

const guesses = 10_000;
const maxScore = 3;
/** None of them is that of the tests' own requests. */
const addresses = Array.from({ length: 12 }, (_, index) => `127.0.0.${100 + index}`);
/** As long as a form takes. */
const longName = "n".repeat(15_000);

let site: Site;

beforeAll(async () => {
  const bans = { maxScore, banMs: 3_600_000 };
  site = await makeConsoleSite({ security: { wrongPasswordDelayMs: 10, bans }, inbound: oneParser });
  await site.start();
});
afterAll(() => site.end());

/** A guess as a browser sends it; gives the status. */
function guess(agent: Agent, localAddress: string, fields: Record<string, string>): Promise<number> {
  const body = new URLSearchParams({ next: "/console", ...fields }).toString();
  const base = consoleBase(site);
  const headers = {
    ...{ origin: base, "content-type": "application/x-www-form-urlencoded" },
    "content-length": Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${base}/console/sign-in`, { method: "POST", agent, localAddress, headers });
    sent.on("response", (reply) => {
      reply.resume().on("end", () => resolve(reply.statusCode ?? 0));
    });
    sent.on("error", reject).end(body);
  });
}

/** One of three is at a user that there is. */
function nameOf(index: number): string {
  if (index % 3 === 0) return "admin";
  return index % 3 === 1 ? `somebody${index}` : `${index}${longName}`;
}

/** Guesses from all addresses at once; gives how often each status was answered. */
async function guessAll(): Promise<Readonly<Record<number, number>>> {
  const counts: Record<number, number> = {};
  let next = 0;
  const guessFrom = async (address: string) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (next < guesses) {
      next += 1;
      const index = next;
      const status = await guess(agent, address, { userName: nameOf(index), password: `guess ${index}` });
      counts[status] = (counts[status] ?? 0) + 1;
    }
    agent.destroy();
  };
  await Promise.all(addresses.map(guessFrom));
  return counts;
}

/** Asks whether the daemon is ready as long as the work lasts; gives the answers. */
async function readinessDuring(work: Promise<unknown>): Promise<ReadonlySet<number>> {
  const statuses = new Set<number>();
  let isOver = false;
  const end = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    statuses.add((await fetch(`${site.http}/readyz`, { signal: AbortSignal.timeout(60_000) })).status);
    await pause(100);
  }
  await end;
  return statuses;
}

interface AuditRow {
  readonly kind: string;
  readonly user_name: string;
  readonly after: string | null;
}

function auditRows(): readonly AuditRow[] {
  return rowsOf(site, "select kind, user_name, after from audit order by id");
}

test("10,000 guesses stop nobody, fill neither memory nor log nor audit, and are told to the user", async () => {
  await signInToConsole(site, "inquiry");
  const before = { ...(await site.daemon.memoryMb()), lines: site.daemon.log.length };
  const begun = performance.now();
  const work = guessAll();
  expect([...(await readinessDuring(work))]).toEqual([200]);
  const answers = await work;
  const seconds = (performance.now() - begun) / 1_000;

  // Each address is banned after some; those that are under way at that moment are answered too.
  const { 401: wrong = 0, 429: barred = 0, ...others } = answers;
  expect([wrong + barred, others]).toEqual([guesses, {}]);
  expect(wrong).toBeGreaterThanOrEqual(addresses.length * maxScore);
  expect(wrong).toBeLessThanOrEqual(addresses.length * (maxScore + 1));

  const admin = await signInToConsole(site, "admin");
  expect((await admin.get("/console/files")).status).toBe(200);
  const memory = await site.daemon.memoryMb();
  expect(memory.peak - before.now).toBeLessThan(150);
  // Lines of a kind are summed every five seconds.
  expect(site.daemon.log.length - before.lines).toBeLessThan(100 + 20 * seconds);
  const kinds = auditRows().map(({ kind, user_name }) => `${kind} ${user_name}`);
  expect(kinds).toEqual(["signedIn inquiry", "signedIn admin"]);
  const { refusedBefore } = JSON.parse(auditRows()[1]?.after ?? "{}") as { refusedBefore?: number };
  expect(refusedBefore).toBeGreaterThan(guesses / 4);
});
