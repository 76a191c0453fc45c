/** CA files of remotes on a share that hangs: a FIFO to which nobody writes stands for one. */
import { execFileSync } from "node:child_process";
import { constants } from "node:fs";
import { open, rename, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { startRemotes } from "../../src/app/daemon/remotes.ts";
import { ReleaseStack } from "../../src/app/daemon/service-group.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { formatConfigFaults } from "../../src/config/reader/config-fault.ts";
import type { Config } from "../../src/config/schema.ts";
import type { RemoteEndpoint } from "../../src/endpoints/remote/remote-endpoint.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { listenFree } from "../support/listen-free.ts";
import { type LogLine, RemoteRig } from "../support/remote-rig.ts";
import { waitFor } from "../support/wait-for.ts";

const times = { answerMs: 1_000, refreshMs: 50 };

type Code = "ACME" | "OTHER";

let rig: RemoteRig;
let stack: ReleaseStack;
let endpoint: RemoteEndpoint;
let lines: LogLine[];
let ids: Record<Code, number>;
/** How often the server of the company's remote was connected to. */
let polls: Record<Code, number>;
let config: Config;
/** How often the list of remotes was read. */
let readings: number;

const at = (name: string) => join(rig.root, name);
const ca = () => at("acme-ca.pem");

async function loaded(companies: string): Promise<Config> {
  const path = at("dropgate.yaml");
  await writeFile(path, `companies: {${companies}}`);
  const outcome = await loadConfig({ path, env: { PASS: "a word" }, cwd: rig.root });
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.config;
}

/** The remote of a company, on a server that counts connections and ends them. */
async function remoteOf(code: Code, caFile: string): Promise<string> {
  const server = createServer((socket) => {
    polls[code] += 1;
    socket.on("error", () => undefined).destroy();
  });
  onTestFinished(() => void server.close());
  const where = `type: ftps, host: 127.0.0.1, port: ${await listenFree(server)}, user: u, ca: ${caFile}`;
  return `${code}: {remotes: {partner: {${where}, password: 'env:PASS', after: leave, everyMs: 1000}}}`;
}

async function hang(path: string): Promise<void> {
  execFileSync("mkfifo", [at("fifo")]);
  await rename(at("fifo"), path);
}

/** The share is back: what hangs in the file is answered, and the file is as any other. */
async function answer(path: string): Promise<void> {
  await writeFile(at("answering"), "of an authority");
  const writer = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
  await rename(at("answering"), path);
  await writer.close();
}

async function severalReadings(): Promise<void> {
  const before = readings;
  await waitFor("the list to be read again", () => readings >= before + 10);
}

const warningsOf = (file: string) =>
  lines.filter(({ level, ...line }) => level === "warn" && JSON.stringify(line).includes(file));

const polled = (code: Code) => waitFor(`the remote of ${code} to be polled`, () => polls[code] > 0);

const told = (count: number) => waitFor("the trouble to be told", () => warningsOf(ca()).length >= count);

beforeEach(async () => {
  rig = await RemoteRig.open();
  const other = await rig.store.write("site", (tx) => insertCompany(tx, { code: "OTHER", createdAt: 1 }));
  ids = { ACME: rig.companyId, OTHER: other.company.id };
  [lines, polls, readings] = [[], { ACME: 0, OTHER: 0 }, 0];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) };
  const log = createLogger({ level: "debug", destination });
  stack = new ReleaseStack(log);
  const ownership = {
    isSole: false,
    fenceOf: (companyId: number) => ({ companyId, epoch: 1, goodForMs: () => 60_000 }),
  };
  await writeFile(ca(), "of an authority");
  await writeFile(at("other-ca.pem"), "of another");
  config = await loaded("");
  endpoint = await startRemotes({
    ...{ store: rig.store, locations: rig.locations, pipeline: rig.pipeline, clock: systemClock },
    ...{ intake: { whyNoRoom: async () => undefined }, log, stack, times, untaken: [] },
    cluster: { ownership, keeper: undefined, incarnation: undefined, changeClock: undefined },
    config: () => {
      readings += 1;
      return config;
    },
    signal: new AbortController().signal,
  });
});

afterEach(async () => {
  await stack.releaseAll(AbortSignal.timeout(10_000));
  // A read that hangs would keep the process of the tests.
  await answer(ca());
  await rig.close();
});

test("one that never answered holds up the remotes that name it alone, and they are polled when it answers", async () => {
  await hang(ca());
  config = await loaded(
    [await remoteOf("ACME", ca()), await remoteOf("OTHER", at("other-ca.pem"))].join(", "),
  );
  await endpoint.begin(ids.ACME);
  await endpoint.begin(ids.OTHER);
  await polled("OTHER");
  await told(1);
  await severalReadings();
  expect(warningsOf(ca())).toEqual([
    expect.objectContaining({
      ...{ company: "ACME", remote: "partner" },
      reason: `the file ${ca()} (ca) does not answer; see to the share that it lies on: files are fetched when it answers`,
    }),
  ]);
  expect(polls.ACME).toBe(0);
  await answer(ca());
  await polled("ACME");
});

test("one that was read before holds up nobody when it hangs, and that is told once each time", async () => {
  config = await loaded(
    [await remoteOf("ACME", ca()), await remoteOf("OTHER", at("other-ca.pem"))].join(", "),
  );
  await endpoint.begin(ids.ACME);
  await polled("ACME");
  for (const nth of [1, 2]) {
    await hang(ca());
    await told(nth);
    await severalReadings();
    expect(warningsOf(ca())).toHaveLength(nth);
    const before = polls.ACME;
    await endpoint.pollNow();
    expect(polls.ACME).toBeGreaterThan(before);
    await endpoint.begin(ids.OTHER);
    await polled("OTHER");
    await answer(ca());
    await severalReadings();
  }
  expect(warningsOf(ca())[0]).toMatchObject({ file: ca(), remotes: ["partner of ACME"] });
});

test("one that cannot be read holds up the remotes that name it alone, and they are polled when it can", async () => {
  const missing = at("missing.pem");
  config = await loaded(
    [await remoteOf("ACME", missing), await remoteOf("OTHER", at("other-ca.pem"))].join(", "),
  );
  await endpoint.begin(ids.ACME);
  await endpoint.begin(ids.OTHER);
  await polled("OTHER");
  await severalReadings();
  expect(warningsOf(missing)).toEqual([
    expect.objectContaining({
      company: "ACME",
      reason: expect.stringMatching(/missing.pem.*cannot be read/),
    }),
  ]);
  await writeFile(missing, "of an authority");
  await polled("ACME");
});
