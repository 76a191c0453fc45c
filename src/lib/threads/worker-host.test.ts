import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { siblingModule } from "./sibling-module.ts";
import { slowAt } from "../testing/slow-worker.ts";
import { type WorkerEnd, WorkerHost } from "./worker-host.ts";

const file = siblingModule("../testing/slow-worker", import.meta.url);

function started({ maxHeapMb = 64 } = {}) {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const told: string[] = [];
  const answered = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<WorkerEnd>();
  const host = new WorkerHost<string>(
    { file, name: "slow", data: shared.buffer, maxHeapMb },
    { loaded: () => void told.push("loaded"), message: answered.resolve, ended: ended.resolve },
  );
  const letLoad = () => {
    Atomics.add(shared, slowAt.let, 1);
    Atomics.notify(shared, slowAt.let);
  };
  onTestFinished(async () => {
    letLoad();
    await host.end();
  });
  const loads = () => Atomics.load(shared, slowAt.loaded);
  return { host, told, letLoad, loads, answered: answered.promise, ended: ended.promise };
}

async function loaded(options: { maxHeapMb?: number } = {}) {
  const thread = started(options);
  thread.letLoad();
  await thread.host.untilLoaded();
  return thread;
}

test("a thread that loads is ended when it has loaded", async () => {
  const { host, told, letLoad, loads, ended } = started();
  const ending = host.end();
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect(host.isLoaded).toBe(false);
  letLoad();
  await ending;
  expect(loads()).toBe(1);
  expect(told).toEqual(["loaded"]);
  expect(await ended).toMatchObject({ reason: "stopped", wasLoaded: true });
});

test("so is one that was told to load again, but for one that is stuck", async () => {
  const { host, letLoad, loads } = await loaded();
  host.loadsAgain();
  host.post("load");
  const ending = host.end();
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect(host.isLoaded).toBe(false);
  letLoad();
  await ending;
  expect(loads()).toBe(2);
  const stuck = await loaded();
  stuck.host.post("spin");
  stuck.host.loadsAgain();
  await stuck.host.endStuck();
  expect(await stuck.ended).toMatchObject({ reason: "stopped" });
});

test("the owner hears why a thread is gone, and what it died of", async () => {
  const ends: Record<string, WorkerEnd> = {};
  for (const deed of ["throw", "exit", "hoard"]) {
    const { host, ended } = await loaded({ maxHeapMb: 16 });
    host.post(deed);
    ends[deed] = await ended;
  }
  expect(ends["throw"]).toMatchObject({ reason: "crash", detail: "it broke", wasLoaded: true });
  expect(ends["exit"]).toMatchObject({ reason: "memory", detail: undefined });
  expect(ends["hoard"]).toMatchObject({ reason: "memory" });
});

test("a thread that is not in time is ended for its time", async () => {
  const { host, ended } = await loaded();
  host.post("spin");
  host.within(1);
  expect(await ended).toMatchObject({ reason: "time" });
});

test("a thread that is in time lives on", async () => {
  const { host, answered } = await loaded();
  host.within(1);
  host.inTime();
  const late = Date.now() + 5;
  while (Date.now() < late) await setImmediate();
  host.post("answer");
  expect(await answered).toBe("answer");
});

test("a thread that cannot load ends by itself", async () => {
  const ended = Promise.withResolvers<WorkerEnd>();
  const host = new WorkerHost<string>(
    { file: siblingModule("./testing/no-such-worker", import.meta.url), name: "none" },
    { message: () => undefined, ended: ended.resolve },
  );
  await host.end();
  expect(await ended.promise).toMatchObject({ reason: "stopped", wasLoaded: false });
});
