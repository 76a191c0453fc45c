import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary-folder.ts";
import { waitFor } from "../../../../test/support/wait-for.ts";
import { HealthJob } from "./health-job.ts";

const clock = { now: () => 7 };

/** A job whose process does that. */
function jobOf(script: string, silentMs?: number): HealthJob<unknown> {
  const file = join(temporaryFolder(), "process.mjs");
  writeFileSync(file, script);
  const bound = silentMs === undefined ? {} : { silentMs };
  return new HealthJob({ kind: "check", configFile: "/none", clock, file, ...bound });
}

const untilIdle = (job: HealthJob<unknown>) => waitFor("the end of the job", () => !job.isRunning);

test("the result is kept with its time, and the progress is told meanwhile", async () => {
  const job = jobOf(`
    console.log(JSON.stringify({ kind: "progress", entries: 3, total: 9 }));
    process.on("SIGUSR1", () => undefined);
    setTimeout(() => console.log(JSON.stringify({ kind: "result", result: ["fine"] })), 300);`);
  job.begin();
  job.begin();
  await waitFor("the progress", () => job.state.running?.progress?.entries === 3);
  await untilIdle(job);
  expect(job.state).toEqual({ running: undefined, last: { at: 7, result: ["fine"] }, failure: undefined });
});

test("one that fails says why, and the result of before is kept", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "process.mjs");
  writeFileSync(file, `console.log(JSON.stringify({ kind: "result", result: 1 }));`);
  const job = new HealthJob({ kind: "verify", configFile: "/none", clock, file });
  job.begin();
  await untilIdle(job);
  writeFileSync(file, `console.error("the share is gone"); process.exitCode = 1;`);
  job.begin();
  await untilIdle(job);
  expect(job.state.failure).toEqual({ at: 7, message: "the share is gone" });
  expect(job.state.last?.result).toBe(1);
});

test("one that says nothing is ended, and one that hears no signal is left alone", async () => {
  const job = jobOf(`process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1000);`, 300);
  job.begin();
  await untilIdle(job);
  expect(job.state.failure?.message).toMatch(/^it said nothing for/);
});

test("the stop of the daemon ends it, and none begins after that", async () => {
  const job = jobOf(`setInterval(() => undefined, 1000);`);
  job.begin();
  await job.stop();
  await untilIdle(job);
  job.begin();
  expect(job.isRunning).toBe(false);
});

test("one that is killed while it writes its result has failed, and harms nobody", async () => {
  const job = jobOf(`process.stdout.write('{"kind":"result","res'); process.kill(process.pid, "SIGKILL");`);
  job.begin();
  await untilIdle(job);
  expect(job.state.last).toBeUndefined();
  expect(job.state.failure?.message).toContain("Command failed");
});
