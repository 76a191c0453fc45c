/**
 * The open of a waiting file fails in the running daemon (injected with strace): the later files of its stop wait for it.
 * Only where strace is installed and may trace.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { Site } from "../support/daemon.ts";
import { put, receiptFor, send, stopFile } from "../support/stop-files.ts";
import { canTrace } from "../support/tracing.ts";
import { waitFor } from "../support/wait-for.ts";

const mayTrace = await canTrace();
let site: Site;

beforeAll(async () => {
  if (!mayTrace) return;
  // A process has one tracer, and here it is this test's.
  vi.stubEnv("DROPGATE_TEST_SYNC_DELAY_US", undefined);
  site = await Site.make();
  await site.start();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  if (mayTrace) await site.end();
});

/** From now on each open of the file fails in the daemon. Gives what ends that. */
async function failOpens(path: string, error: string): Promise<() => Promise<void>> {
  const inject = `inject=openat:error=${error}`;
  const args = ["-f", "-p", String(site.daemon.pid), "-P", path, "-e", "trace=openat", "-e", inject];
  const tracer = spawn("strace", args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  tracer.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  onTestFinished(() => void tracer.kill("SIGINT"));
  await waitFor("strace to be attached", () => said.includes("attached"));
  return async () => {
    const ended = once(tracer, "close");
    tracer.kill("SIGINT");
    await ended;
    expect(said).toContain("(INJECTED)");
  };
}

test.skipIf(!mayTrace).each(["EMFILE", "EIO", "EACCES"])(
  "%s at the open of a waiting file keeps back the next file of its stop, and no other",
  async (error) => {
    const stop = `X${error}`;
    const [first, second] = [stopFile(stop, { time: "080000" }), stopFile(stop, { time: "090000" })];
    const end = await failOpens(site.path("inbound", first.name), error);
    await put(site, first);
    await put(site, second);
    expect(await send(site, stopFile(`Y${error}`, { time: "100000" }))).toMatchObject({ status: 10 });
    await site.daemon.waitForLog(
      ({ msg, file }) => msg.includes("cannot be taken now") && file === first.name,
    );
    const waiting = await site.json<{ name: string }[]>("files", "--state", "waiting");
    expect(waiting.map(({ name }) => name).sort()).toEqual([first.name, second.name]);
    expect((await fetch(`${site.http}/readyz`)).status).toBe(error === "EMFILE" ? 503 : 200);
    const reason = error === "EMFILE" ? "machine" : "unreadable";
    await waitFor("both to be explained, the second with the first", async () => {
      const texts = [await site.mustRun("explain", first.name), await site.mustRun("explain", second.name)];
      return texts.every((text) => text.includes(`(${reason}: ${error}`) && text.includes("What to do:"));
    });
    expect(await site.mustRun("explain", second.name)).toContain(`It waits for ${first.name} (entry`);
    await end();
    expect(await receiptFor(site, first.name)).toMatchObject({ status: 10, records: [1, 0, 0] });
    expect(await receiptFor(site, second.name)).toMatchObject({ status: 10, records: [0, 1, 0] });
    expect((await fetch(`${site.http}/readyz`)).status).toBe(200);
  },
);
