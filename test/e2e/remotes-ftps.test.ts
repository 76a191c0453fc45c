/** Remotes with the real daemon and vsftpd: each file once over kill -9, at each step of its way and at any moment. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { company, oneParser, type Settings, Site } from "../support/daemon.ts";
import { giveFolder, openFtpsRemote, putFile, type RemoteSite, stopText } from "../support/remote-site.ts";
import { isInstalled } from "../support/run-program.ts";
import { sampled } from "../support/sampled.ts";
import { waitFor } from "../support/wait-for.ts";
import { ledgerOf } from "./crash-check.ts";
import { killedExitCode } from "./crash-host.ts";
import { remoteSteps } from "./crash-plan.ts";

type Death = { readonly step: string } | { readonly afterMs: number };

const allDeaths: readonly Death[] = [
  ...remoteSteps.map((step) => ({ step })),
  ...[0, 60, 120, 200, 300].map((afterMs) => ({ afterMs })),
];
const deaths = sampled(allDeaths, 4);
const afters = ["delete", "move", "leave"] as const;
const filesEach = 3;
const canRun = isInstalled("vsftpd") && process.getuid?.() === 0;

let remote: RemoteSite;
let site: Site;
const boxes = new Map<string, string>();
let doneBox: string;

function settingsOf(after: (typeof afters)[number]): Settings {
  const { server, directory } = remote;
  const { host, port, user } = server;
  return {
    ...{ type: "ftps", host, port, user, password: `file:${join(site.folder, "remote-password")}` },
    ...{ ca: join(site.folder, "remote-ca.pem"), directory: `${directory}/${after}`, after },
    ...{ everyMs: 1_000, settleMs: 0, ...(after === "move" ? { moveTo: remote.done } : {}) },
  };
}

beforeAll(async () => {
  if (!canRun) return;
  remote = await openFtpsRemote();
  for (const after of afters) boxes.set(after, giveFolder(join(remote.box, after)));
  doneBox = remote.doneBox;
  site = await Site.make();
  const { server } = remote;
  if (server.kind !== "ftp") throw new Error("vsftpd speaks FTP");
  writeFileSync(join(site.folder, "remote-password"), server.password ?? "", { mode: 0o600 });
  writeFileSync(join(site.folder, "remote-ca.pem"), String(server.ca));
  const remotes = Object.fromEntries(afters.map((after) => [after, settingsOf(after)]));
  await site.reconfigure({ inbound: { ...oneParser, settleMs: 100 }, companies: { [company]: { remotes } } });
});
afterAll(async () => {
  await site?.end();
  await remote?.end();
});

/** Runs the daemon until it dies so; false when it does not. */
async function dies(death: Death): Promise<boolean> {
  const env = "step" in death ? { DROPGATE_KILL_POINT: death.step } : {};
  const run = await site.start({ env }).catch(() => site.daemon);
  const timeoutMs = "step" in death ? 60_000 : death.afterMs;
  const late = new Promise<number>((resolve) => setTimeout(resolve, timeoutMs, -1).unref());
  const exitCode = await Promise.race([run.exit, late]);
  if (site.isRunning) await site.kill();
  return exitCode === killedExitCode || "afterMs" in death;
}

/** Whether each remote has ended a round two seconds after this call, so that it has begun one after it. */
function roundsOfEach(): () => Promise<boolean> {
  const after = Date.now() / 1000 + 2;
  return async () => {
    const text = await (await fetch(`${site.http}/metrics`)).text();
    const ends = [...text.matchAll(/^dropgate_remote_last_success_timestamp_seconds\{.*\} (\d+)$/gm)];
    return ends.length === afters.length && ends.every(([, at]) => Number(at) > after);
  };
}

test.skipIf(!canRun)("each file is taken once, whether it is removed, moved or left", async () => {
  const names: string[] = [];
  const missed: Death[] = [];
  for (const [round, death] of deaths.entries()) {
    for (const [after, box] of boxes) {
      for (let at = 0; at < filesEach; at += 1) {
        const stop = `${after}${round}-${at}`;
        names.push(`${stop}_20261105_080000.xml`);
        putFile(join(box, `${stop}_20261105_080000.xml`), stopText(stop));
      }
    }
    if (!(await dies(death))) missed.push(death);
  }
  await site.start();
  const here = (after: string) => readdirSync(boxes.get(after) ?? "");
  await waitFor("all files to be taken", () => {
    const files = ledgerOf(site);
    const isDecided = files.every(({ state }) => state !== "waiting");
    return isDecided && files.length >= names.length && here("delete").length + here("move").length === 0;
  });
  await waitFor("more rounds of each, in which nothing may come again", roundsOfEach());
  const files = ledgerOf(site);
  expect(files.map(({ name }) => name).sort()).toEqual(names.sort());
  expect(new Set(files.map(({ state }) => state))).toEqual(new Set(["applied"]));
  expect(here("leave")).toHaveLength(deaths.length * filesEach);
  expect(readdirSync(doneBox)).toHaveLength(deaths.length * filesEach);
  expect(missed).toEqual([]);
  expect(readdirSync(site.path("inbound", ".fetching"))).toEqual([]);
  expect((await site.cli("ledger", "verify")).exitCode).toBe(0);
});
