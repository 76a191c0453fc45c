/**
 * 100,000 files wait while the daemon is down; then it starts. Each is applied once and in order, a file that comes over
 * SFTP meanwhile is answered, the probes answer, and the memory stays bounded.
 *
 *   node test/nightly/backlog-100000.ts [number of files]      after `npm run build`; ends with 1 when something is not so
 */
import { writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { getStop, http } from "../support/clients.ts";
import { company, Site } from "../support/daemon.ts";
import { put, receiptFor, stopFile, waitingIn } from "../support/stop-files.ts";

const count = Number(process.argv[2] ?? 100_000);
const changesOfOneStop = 5;
const maxMemoryMb = 300;
const maxProbeMs = 2_000;
const patienceMs = 60_000 + count * 10;

const faults: string[] = [];

function expectThat(isSo: boolean, claim: string): void {
  console.log(`${isSo ? "ok    " : "NOT SO"}  ${claim}`);
  if (!isSo) faults.push(claim);
}

/** The files of the backlog in an order that has nothing to do with that of their times. */
function* backlog(): Generator<{ name: string; content: string }> {
  const step = 7_919;
  for (let turn = 0; turn < count; turn += 1) {
    const index = (turn * step) % count;
    const [stop, change] = [Math.floor(index / changesOfOneStop), index % changesOfOneStop];
    const time = `0${change}${String(stop % 60).padStart(2, "0")}00`;
    const file = stopFile(`Q${stop}`, { time, more: `<SealNbr>${change}</SealNbr>` });
    yield { name: file.name, content: String(file.content) };
  }
}

async function drop(site: Site): Promise<void> {
  const files = backlog();
  const writer = async () => {
    for (const { name, content } of files) await writeFile(site.path("inbound", name), content);
  };
  await Promise.all(Array.from({ length: 16 }, writer));
}

/** Looks at memory and probes until told to end; gives what was worst. */
async function watch(site: Site, end: AbortSignal): Promise<{ memoryMb: number; probeMs: number }> {
  const worst = { memoryMb: 0, probeMs: 0 };
  const timeline: string[] = [];
  for (let look = 0; !end.aborted; look += 1) {
    const began = performance.now();
    const probe = await fetch(`${site.http}/readyz`);
    if (probe.status !== 200) faults.push(`readyz answered ${probe.status}: ${await probe.text()}`);
    worst.probeMs = Math.max(worst.probeMs, performance.now() - began);
    const memory = await site.daemon.memoryMb();
    worst.memoryMb = Math.max(worst.memoryMb, memory.peak);
    if (look % 10 === 0) timeline.push(memory.now.toFixed(0));
    await pause(500);
  }
  console.log(`resident memory every 5 s, MiB: ${timeline.join(" ")}`);
  return worst;
}

async function untilNothingWaits(site: Site): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while ((await waitingIn(site)).length > 0) {
    if (performance.now() > deadline) throw new Error("files still wait");
    await pause(1_000);
  }
}

async function checkOutcome(site: Site): Promise<void> {
  const stops = Math.ceil(count / changesOfOneStop);
  const report = await site.json<{
    accounts: Readonly<Record<string, unknown>>[];
    discrepancies: unknown[];
  }>("ledger", "verify");
  const account = report.accounts[0] ?? {};
  expectThat(account["applied"] === count + 1, `${count + 1} files were applied: ${JSON.stringify(account)}`);
  expectThat(report.discrepancies.length === 0, "the accounting of the ledger is right");
  const shown = (await http(site, `/api/stop/${company}?limit=1`)).headers.get("x-total-count");
  expectThat(shown === String(stops + 1), `${stops + 1} stops are shown: ${shown}`);
  let wrong = 0;
  for (let stop = 0; stop < stops; stop += Math.max(1, Math.floor(stops / 50))) {
    const last = String(Math.min(changesOfOneStop, count - stop * changesOfOneStop) - 1);
    const seal = (await getStop(site, `Q${stop}`))?.["sealNbr"];
    if (seal === last) continue;
    wrong += 1;
    console.log(`stop Q${stop} shows ${String(seal)}, not its last change ${last}`);
  }
  expectThat(wrong === 0, "each stop looked at shows its last change");
}

async function run(site: Site): Promise<void> {
  console.log(`writing ${count} files ...`);
  await drop(site);
  await site.start();
  const [began, end] = [performance.now(), new AbortController()];
  const watching = watch(site, end.signal);
  const urgent = stopFile("URGENT", { time: "20250101_000000" });
  await put(site, urgent);
  await receiptFor(site, urgent.name, patienceMs);
  const urgentMs = performance.now() - began;
  await untilNothingWaits(site);
  const seconds = (performance.now() - began) / 1_000;
  end.abort();
  const { memoryMb, probeMs } = await watching;
  console.log(`${count} files in ${seconds.toFixed(1)} s: ${(count / seconds).toFixed(0)} a second`);
  console.log(`a file sent over SFTP meanwhile had its receipt after ${urgentMs.toFixed(0)} ms`);
  expectThat(memoryMb < maxMemoryMb, `resident memory under ${maxMemoryMb} MiB: ${memoryMb.toFixed(0)}`);
  expectThat(probeMs < maxProbeMs, `readyz within ${maxProbeMs} ms: ${probeMs.toFixed(0)}`);
  await checkOutcome(site);
}

const site = await Site.make({ inbound: { maxWaiting: 2 * count + 1_000 } });
try {
  await run(site);
} finally {
  await site.end();
}
process.exitCode = faults.length === 0 ? 0 : 1;
