import { afterEach, describe, expect, test } from "vitest";
import { siblingModule } from "../lib/threads/sibling-module.ts";
import type { Begun, LetEnd, TestJob, TestOutcome } from "./testing/jobs-worker.ts";
import { ClientThreads } from "./client-threads.ts";
import { ThreadJobs } from "./thread-jobs.ts";

const never = new AbortController().signal;
const aMinuteMs = 60_000;
const opened: ThreadJobs<TestJob | LetEnd, Begun, TestOutcome>[] = [];

function jobsWith(times: { readonly timeoutMs?: number; readonly idleMs?: number } = {}) {
  const jobs = new ThreadJobs<TestJob | LetEnd, Begun, TestOutcome>({
    client: { module: siblingModule("./testing/jobs-worker", import.meta.url), data: undefined },
    threads: new ClientThreads({ most: 4, patienceMs: aMinuteMs, changeMs: aMinuteMs }),
    where: "test host:1",
    ...{ timeoutMs: aMinuteMs, idleMs: aMinuteMs, ...times },
  });
  opened.push(jobs);
  return jobs;
}

type Jobs = ReturnType<typeof jobsWith>;

/** `begun` tells when the thread has begun with it, `end` how it ended. */
function start(jobs: Jobs, does: TestJob["does"], signal: AbortSignal = never) {
  const begun = Promise.withResolvers<Begun>();
  const late = () => `not done in time; it was told to ${does}`;
  const end = jobs.run({ begin: (id) => ({ kind: "job", id, does }), hear: begun.resolve, late }, signal);
  return { begun: begun.promise, end };
}

afterEach(async () => {
  for (const jobs of opened.splice(0)) await jobs.close();
});

describe("the jobs of a thread", () => {
  test("end with what the thread says, two at a time in one thread", async () => {
    const jobs = jobsWith();
    const first = start(jobs, "wait");
    const second = start(jobs, "nothing");
    expect(await second.end).toEqual({ outcome: { kind: "ended", by: "itself" }, verdict: undefined });
    const { id, threadId } = await first.begun;
    expect(await second.begun).toMatchObject({ threadId });
    expect(jobs.isBusy).toBe(true);
    jobs.post({ kind: "let", id });
    expect(await first.end).toEqual({ outcome: { kind: "ended", by: "let" }, verdict: undefined });
    expect(jobs.isBusy).toBe(false);
  });

  test("over its time a job is told to give up, and why stands beside how it ended", async () => {
    expect(await start(jobsWith({ timeoutMs: 50 }), "wait").end).toEqual({
      outcome: { kind: "ended", by: "cancel" },
      verdict: expect.objectContaining({
        ...{ kind: "failed", fault: "timeout" },
        message: "test host:1: not done in time; it was told to wait.",
      }),
    });
  });

  test("aborted, a job ends when the thread has given it up", async () => {
    const controller = new AbortController();
    const jobs = jobsWith();
    const { begun, end } = start(jobs, "ignore", controller.signal);
    const { id } = await begun;
    controller.abort();
    expect(jobs.isGivenUp(id)).toBe(true);
    expect(jobs.isBusy).toBe(true);
    jobs.post({ kind: "let", id });
    expect(await end).toEqual({
      outcome: { kind: "ended", by: "let" },
      verdict: expect.objectContaining({ fault: "connectionLost", message: "test host:1: aborted." }),
    });
  });

  test("a thread that is stuck is ended with all its jobs, and the next job gets another", async () => {
    const controller = new AbortController();
    const jobs = jobsWith();
    const beside = start(jobs, "wait");
    const { threadId } = await beside.begun;
    const stuck = start(jobs, "loop", controller.signal);
    await stuck.begun;
    controller.abort();
    expect((await stuck.end).outcome).toMatchObject({ message: "test host:1: aborted." });
    expect((await beside.end).outcome).toMatchObject({
      ...{ fault: "protocol", scope: "target", message: "test host:1: the client ended: it was stuck." },
    });
    const next = start(jobs, "nothing");
    expect((await next.begun).threadId).not.toBe(threadId);
    expect((await next.end).outcome).toEqual({ kind: "ended", by: "itself" });
  });

  test("a thread that a job takes down fails the others as well, with its words", async () => {
    const jobs = jobsWith();
    const ends = [start(jobs, "wait").end, start(jobs, "crash").end];
    for (const { outcome, verdict } of await Promise.all(ends)) {
      expect(outcome).toMatchObject({ fault: "protocol", scope: "target" });
      expect(outcome).toMatchObject({ message: "test host:1: the client ended: a bug." });
      expect(verdict).toBeUndefined();
    }
    expect((await start(jobs, "nothing").end).outcome).toEqual({ kind: "ended", by: "itself" });
  });

  test("the first reason why a job fails is the one that is told", async () => {
    const controller = new AbortController();
    const jobs = jobsWith();
    const { begun, end } = start(jobs, "wait", controller.signal);
    const { id } = await begun;
    const reason = { fault: "noSpace", isPermanent: false, scope: "target", message: "full" } as const;
    jobs.fail(id, { kind: "failed", ...reason });
    expect(jobs.isGivenUp(id)).toBe(true);
    controller.abort();
    expect((await end).verdict).toMatchObject(reason);
  });

  test("without jobs the thread ends after a while, and the next job gets another", async () => {
    const jobs = jobsWith({ idleMs: 0 });
    const first = start(jobs, "nothing");
    await first.end;
    const { threadId } = await first.begun;
    await expect.poll(async () => (await start(jobs, "nothing").begun).threadId).not.toBe(threadId);
  });

  test("closing gives up what is under way; a later job gets another thread", async () => {
    const jobs = jobsWith();
    const { begun, end } = start(jobs, "wait");
    const { threadId } = await begun;
    await jobs.close();
    expect((await end).verdict).toMatchObject({ message: "test host:1: closed." });
    expect((await start(jobs, "nothing").begun).threadId).not.toBe(threadId);
  });

  test("what is told to a job that is over goes nowhere", async () => {
    const jobs = jobsWith();
    const { begun, end } = start(jobs, "nothing");
    const { id } = await begun;
    await end;
    jobs.post({ kind: "let", id });
    expect(jobs.isGivenUp(id)).toBe(false);
    expect((await start(jobs, "nothing").end).outcome).toEqual({ kind: "ended", by: "itself" });
  });
});
