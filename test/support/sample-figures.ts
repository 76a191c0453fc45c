/** Figures of a program with so many companies, each with a target, a remote and an export. */
import type { Figures } from "../../src/app/watch/metrics/figures.ts";
import { requestBounds } from "../../src/endpoints/http/server/request-figures.ts";
import { routes } from "../../src/endpoints/http/routes.ts";
import { DecisionFigures } from "../../src/inbound/lanes/decision-figures.ts";
import { Histogram } from "../../src/lib/histogram.ts";
import { storeErrorKinds } from "../../src/lib/store-error.ts";
import { lagBounds } from "../../src/outbound/target-statistics.ts";

export function sampleFigures(companyCount: number): Figures {
  const companies = Array.from({ length: companyCount }, (_, at) => ({
    id: at + 1,
    code: `COMPANY${at + 1}`,
  }));
  const decisions = new DecisionFigures();
  for (const { id } of companies) decisions.count(id, { state: "applied", faults: [] }, 1_790_000_000_000);
  const lags = new Histogram(lagBounds);
  lags.observe(2);
  const refused = { stopping: 0, banned: 1, too_many: 0, too_many_of_address: 2, displaced: 0 };
  const noSignIns = { accepted: 1, refused: 2, turned_away: 3 };
  const durations = new Histogram(requestBounds);
  const { decided, lastAppliedAt, refused: refusals, receiptDelays } = decisions;
  return {
    program: {
      ...{ version: "1.2.3", commit: "abc", node: "22", startedAt: 1_790_000_000_500, residentBytes: 9 },
      ...{ cpuSeconds: 1.5, loopLags: new Histogram([0.1]), isReady: true, configReadAt: 5_000 },
      isReloadGood: false,
    },
    node: {
      lanes: { recovering: 1, working: 3, draining: 0, fenced: 0 },
      ...{ lost: 2, silentMs: 250, nodes: 4 },
    },
    stored: {
      ...{ companies, nodes: 4 },
      verification: { at: 7_000, discrepancies: 4 },
      waitingImports: [{ companyId: 1, imports: 2, oldestAgeMs: 61_400 }],
      exports: companies.map(({ id }) => ({ companyId: id, name: "nightly", lastAt: null, nextAt: 8_000 })),
    },
    database: {
      damage: undefined,
      faults: new Map(storeErrorKinds.map((kind) => [kind, kind === "busy" ? 3 : 0])),
      ...{ commitUnits: 12, commits: new Histogram([1]) },
    },
    databaseBytes: { file: 4096, wal: 0 },
    space: { freeBytes: 1e9, minFreeBytes: 1e6 },
    pipeline: {
      ...{ decided, lastAppliedAt, refused: refusals, receiptDelays, unfiled: 1 },
      received: new Map([["folder", { files: 2, bytes: 4_000 }]]),
      waiting: [{ companyId: 1, count: 3, oldestAgeMs: 61_400 }],
    },
    lastAppliedAt,
    held: [
      {
        company: "COMPANY1",
        counts: { unreadable: 2, incomplete: 0, machine: 0, store: 0, internal: 0 },
        ...{ keptBack: 5, oldestMs: 61_000, first: [], isOwnFault: false },
      },
    ],
    refusedUploads: [{ company: "COMPANY1", reason: "noSpace", count: 4 }],
    isIntakeStopped: false,
    endpoints: (["http", "sftp"] as const).map((endpoint) => ({
      ...{ endpoint, connections: { open: 2, signedIn: 1, refused } },
      bytes: { bytesIn: 10, bytesOut: 20 },
      ...(endpoint === "sftp" ? { uploads: { uploadsComplete: 6, uploadsBroken: 1 } } : {}),
    })),
    requests: routes.map(({ name, method }) => ({
      ...{ route: name, method, durations, byStatus: new Map([["2xx", 1]]) },
    })),
    signIn: {
      signIns: { http: noSignIns, sftp: noSignIns, ftp: noSignIns },
      bans: { begun: 2, active: 1 },
    },
    targets: companies.map(({ code }) => ({
      ...{ company: code, target: "host", isConfigured: true, isPaused: true, open: 7, dead: 2 },
      ...{ oldestAgeMs: 61_400, lags, isPausedByHand: true },
      attempts: { delivered: 5, later: 4, dead: 2, nameTaken: 1, dropped: 6, postponed: 0 },
    })),
    remotes: companies.map(({ code }) => ({
      ...{ company: code, remote: "partner", filesTaken: 9, failures: 2, isFailing: true },
      isPausedByHand: true,
      lastSuccessAt: 1_790_000_000_999,
    })),
    uncollected: new Map([["COMPANY1", 3]]),
    openIncidents: new Map([["refusedFiles", 2]]),
    lateArrivals: [{ company: { code: "COMPANY1" } }],
    ...{ lastBackupAt: 1_790_000_000_999, areDeliveriesHeld: true },
    backups: { isFailing: true, idleMs: 61_400 },
    retention: {
      pruned: new Map([["archive", 12]] as const),
      isPaused: true,
      outcome: { hasPassed: true, failure: { at: 1, faults: ["archive: no"] } },
    },
  };
}
