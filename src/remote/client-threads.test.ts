import { afterEach, describe, expect, test } from "vitest";
import { siblingModule } from "../lib/threads/sibling-module.ts";
import { ClientThreads, type ClientThreadsOptions } from "./client-threads.ts";
import type { Begun, LetEnd, TestJob, TestOutcome } from "./testing/jobs-worker.ts";
import { ThreadJobs } from "./thread-jobs.ts";

const never = new AbortController().signal;
const aMinuteMs = 60_000;
const opened: Client[] = [];

type Client = ThreadJobs<TestJob | LetEnd, Begun, TestOutcome>;

function threadsWith(options: Partial<ClientThreadsOptions> = {}): ClientThreads {
  return new ClientThreads({ most: 2, patienceMs: aMinuteMs, changeMs: aMinuteMs, ...options });
}

function clientOf(threads: ClientThreads): Client {
  const client: Client = new ThreadJobs({
    client: { module: siblingModule("./testing/jobs-worker", import.meta.url), data: undefined },
    ...{ where: "test host:1", timeoutMs: aMinuteMs, idleMs: aMinuteMs, threads },
  });
  opened.push(client);
  return client;
}

function start(client: Client, does: TestJob["does"]) {
  const begun = Promise.withResolvers<Begun>();
  const job = { begin: (id: number) => ({ kind: "job", id, does }) as const, hear: begun.resolve };
  const end = client.run({ ...job, late: () => "late" }, never);
  return { begun: begun.promise, end };
}

/** The thread in which the job was done. */
async function threadOf(client: Client, does: TestJob["does"] = "nothing"): Promise<number> {
  const { begun, end } = start(client, does);
  await end;
  return (await begun).threadId;
}

afterEach(async () => {
  for (const client of opened.splice(0)) await client.close();
});

describe("clients of servers", () => {
  test("that have nothing to do share a few threads, however many they are", async () => {
    const threads = threadsWith();
    const used = new Set<number>();
    for (let count = 0; count < 12; count += 1) used.add(await threadOf(clientOf(threads)));
    expect(used.size).toBe(2);
    expect(threads.size).toBe(2);
  });

  test("keep their thread, and with it their connection, as long as no other needs it", async () => {
    const threads = threadsWith();
    const [one, other] = [clientOf(threads), clientOf(threads)];
    const [first, second] = [await threadOf(one), await threadOf(other)];
    expect([await threadOf(one), await threadOf(other), await threadOf(one)]).toEqual([first, second, first]);
  });

  test("wait while all threads are in use, and have the first that is given back", async () => {
    const threads = threadsWith();
    const busy = [clientOf(threads), clientOf(threads)];
    const working = busy.map((client) => start(client, "wait"));
    const begun = await Promise.all(working.map((one) => one.begun));
    const waiting = start(clientOf(threads), "nothing");
    busy[1]?.post({ kind: "let", id: begun[1]?.id ?? 0 });
    expect((await waiting.begun).threadId).toBe(begun[1]?.threadId);
    expect((await waiting.end).outcome).toEqual({ kind: "ended", by: "itself" });
    busy[0]?.post({ kind: "let", id: begun[0]?.id ?? 0 });
    await working[0]?.end;
  });

  test("that are held up by slow ones have one more thread after a while, which goes when they are done", async () => {
    const threads = threadsWith({ patienceMs: 20 });
    const slow = [clientOf(threads), clientOf(threads)];
    const working = slow.map((client) => start(client, "wait"));
    const begun = await Promise.all(working.map((one) => one.begun));
    const held = new Set(begun.map(({ threadId }) => threadId));
    const quick = [clientOf(threads), clientOf(threads), clientOf(threads)];
    for (const threadId of await Promise.all(quick.map((client) => threadOf(client))))
      expect(held.has(threadId)).toBe(false);
    for (const [index, { id }] of begun.entries()) slow[index]?.post({ kind: "let", id });
    await Promise.all(working.map((one) => one.end));
    await expect.poll(() => threads.size).toBe(2);
  });

  test("have another thread when the one that is free hangs with its last client", async () => {
    const threads = threadsWith({ most: 1, changeMs: 20 });
    const hung = await threadOf(clientOf(threads), "hangLater");
    const next = await threadOf(clientOf(threads));
    expect(next).not.toBe(hung);
    await expect.poll(() => threads.size).toBe(1);
  });

  test("that are closed while they wait take none, and can be used again", async () => {
    const threads = threadsWith({ most: 1 });
    const busy = clientOf(threads);
    const working = start(busy, "wait");
    const { id } = await working.begun;
    const client = clientOf(threads);
    const waiting = start(client, "nothing");
    await client.close();
    expect((await waiting.end).verdict).toMatchObject({ message: "test host:1: closed." });
    busy.post({ kind: "let", id });
    await working.end;
    expect(await threadOf(client)).toBeGreaterThan(0);
  });

  test("whose module cannot be loaded fail with the words of that, and the next one has a thread", async () => {
    const threads = threadsWith({ most: 1 });
    const broken: Client = new ThreadJobs({
      client: { module: siblingModule("./testing/no-such-worker", import.meta.url), data: undefined },
      ...{ where: "test host:1", timeoutMs: aMinuteMs, idleMs: aMinuteMs, threads },
    });
    expect((await start(broken, "nothing").end).outcome).toMatchObject({
      ...{ fault: "protocol", scope: "target", message: expect.stringContaining("no-such-worker") },
    });
    expect(await threadOf(clientOf(threads))).toBeGreaterThan(0);
  });
});
