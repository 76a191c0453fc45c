/** A ledger whose files and entries get old, for tests of retention; each has one of its own by `ledgerOfEachTest(fixture)`. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { countOld, type KindAmount, pruneOld } from "../../src/app/retention/run-retention.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Config } from "../../src/config/schema.ts";
import type { DecidedState } from "../../src/domain/files/file-state.ts";
import { receiptNameOf } from "../../src/domain/files/stop-file-name.ts";
import type { FileKind } from "../../src/inbound/pruning/pruning.ts";
import { verifyLedger } from "../../src/inbound/recovery/ledger-verify.ts";
import { LedgerFixture } from "../../src/inbound/testing/ledger-fixture.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { dayMs } from "../../src/lib/durations.ts";

export const start = Date.UTC(2026, 10, 5, 8);
const going = new AbortController().signal;
export const fixture = new LedgerFixture();
export const seal = (id: number) => `sealed-${id}`;

export async function configOf(retention: object, company: object = {}): Promise<Config> {
  const path = join(temporaryFolder(), "dropgate.yaml");
  writeFileSync(
    path,
    JSON.stringify({ stateDir: fixture.stateDir, retention, companies: { ACME: { retention: company } } }),
  );
  const loaded = await loadConfig({ path, env: {}, cwd: "/" });
  if (loaded.kind === "faulty") throw new Error(JSON.stringify(loaded.faults));
  return loaded.config;
}

interface Pass {
  readonly retention: object;
  readonly company?: object;
  /** Days after the start. */
  readonly day: number;
  readonly isHeldUp?: (kind: FileKind) => boolean;
  readonly isOurs?: () => boolean;
}

export const told: string[] = [];

async function prepare({ retention, company, day, isHeldUp = () => false, isOurs = () => true }: Pass) {
  const config = await configOf(retention, company);
  told.length = 0;
  const log = createLogger({ level: "info", destination: { write: (line) => void told.push(line) } });
  const { store, locations } = fixture;
  const { moveTo } = config.retention;
  const ledgerNumbers = { seal };
  const now = start + day * dayMs;
  const clock = { now: () => now };
  return { config, deps: { store, locations, ledgerNumbers, log, clock, now, isHeldUp, isOurs, moveTo } };
}

const short = (amounts: readonly KindAmount[]) =>
  Object.fromEntries(amounts.map(({ kind, count, bytes }) => [kind, [count, bytes]]));

/** What went of each kind: count and bytes. */
export async function prune(pass: Pass) {
  const { config, deps } = await prepare(pass);
  return short(await pruneOld(deps, { config }, going));
}

export async function wouldGo(pass: Pass) {
  const { config, deps } = await prepare(pass);
  return await countOld(deps, { config }, going);
}

export function placeOf(name: string, state: DecidedState, day: number): string {
  const folder = state === "refused" || state === "superseded" ? "error" : "archive";
  return `companies/ACME/${folder}/${new Date(start + day * dayMs).toISOString().slice(0, 10)}/${name}`;
}

export const receiptOf = (id: number) => `<StopResponse><File Ledger="${seal(id)}"/></StopResponse>`;

interface Filed {
  readonly day?: number;
  readonly state?: DecidedState;
  readonly text?: string;
  readonly firstId?: number;
}

/** Enters, decides and files a file away, with its receipts. */
export async function filed(name: string, { day = 0, state = "applied", text = name, firstId }: Filed = {}) {
  const id = await fixture.wait(name, { text });
  rmSync(join(fixture.stateDir, "companies/ACME/inbound", name));
  const location = placeOf(name, state, day);
  const decidedAt = start + day * dayMs;
  await fixture.decide(id, {
    state,
    location,
    text,
    decidedAt,
    ...(firstId === undefined ? {} : { firstId }),
  });
  await fixture.put(`companies/ACME/receipts/${receiptNameOf(name)}`, receiptOf(id));
  if (location.includes("/error/"))
    await fixture.put(join(dirname(location), receiptNameOf(name)), receiptOf(id));
  return { id, location };
}

export const isThere = (location: string) => existsSync(join(fixture.stateDir, location));
export const receiptPath = (name: string) => `companies/ACME/receipts/${receiptNameOf(name)}`;

export async function verify() {
  const { store, locations } = fixture;
  const clock = { now: () => Date.now() };
  return await verifyLedger({ store, locations, clock, arrivalGraceMs: 0, pauseMs: 1, isStopped: true });
}

export async function expectCorrect(account: object) {
  const report = await verify();
  expect(report.discrepancies).toEqual([]);
  const [acme] = report.accounts;
  expect(acme).toMatchObject(account);
  if (acme !== undefined)
    expect(acme.received).toBe(acme.applied + acme.refused + acme.duplicate + acme.superseded + acme.waiting);
  return report;
}

export const a = "1_20261105_080000.xml";
export const b = "2_20261105_080000.xml";
export const c = "3_20261105_080000.xml";
