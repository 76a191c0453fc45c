import { expect, it } from "vitest";
import { type MetricsSource, renderMetrics } from "./metrics.ts";

const source: MetricsSource = {
  statistics: () => ({
    waiting: [{ company: "ACME", count: 3 }],
    decided: [{ company: 'A"\\CME', state: "applied", count: 12 }],
    unfiled: 1,
    held: [
      {
        company: "ACME",
        counts: { unreadable: 2, incomplete: 0, machine: 0, store: 0, internal: 0 },
        ...{ keptBack: 5, oldestMs: 61_000, first: [], isOwnFault: false },
      },
    ],
  }),
  refusedUploads: () => [{ company: "ACME", reason: "noSpace", count: 4 }],
  noRoom: () => [],
  connections: () => ({ sftp: 2 }),
  discrepancies: () => undefined,
  isReady: () => true,
  store: () => ({ damage: undefined, count: (kind) => (kind === "busy" ? 3 : 0) }),
  targets: () => [
    {
      ...{ company: "ACME", target: "host", isConfigured: true, isPaused: true },
      ...{ open: 7, dead: 2, oldestAgeMs: 61_400 },
      attempts: { delivered: 5, later: 4, dead: 2, nameTaken: 1, dropped: 6, postponed: 0 },
    },
  ],
  remotes: () => [
    {
      ...{ company: "ACME", remote: "partner", filesTaken: 9, failures: 2, isFailing: true },
      lastSuccessAt: 1_790_000_000_999,
    },
  ],
  uncollected: () => new Map([["ACME", 3]]),
  lastBackupAt: () => 1_790_000_000_999,
  areDeliveriesHeld: () => true,
};

it("metrics have help, type and escaped labels, and leave out what is not known yet", () => {
  const text = renderMetrics(source);
  expect(text).toContain('dropgate_uploads_refused_total{company="ACME",reason="no_space"} 4\n');
  expect(text).toContain("dropgate_intake_stopped 0\n");
  expect(text).toContain('dropgate_files_waiting{company="ACME"} 3\n');
  expect(text).toContain('dropgate_files_decided_total{company="A\\"\\\\CME",state="applied"} 12\n');
  expect(text).toContain('dropgate_files_held{company="ACME",reason="unreadable"} 2\n');
  expect(text).toContain('dropgate_files_held{company="ACME",reason="kept_back"} 5\n');
  expect(text).toContain('dropgate_files_held_oldest_age_seconds{company="ACME"} 61\n');
  expect(text).toContain("dropgate_database_damaged 0\n");
  expect(text).toContain("dropgate_backup_last_success_timestamp_seconds 1790000000\n");
  expect(text).toContain("dropgate_deliveries_held 1\n");
  expect(text).toContain('dropgate_database_faults_total{kind="busy"} 3\n');
  expect(text).toContain('dropgate_connections{endpoint="sftp"} 2\n');
  expect(text).toContain("# TYPE dropgate_files_decided_total counter\n");
  expect(text).toContain('dropgate_remote_files_total{company="ACME",remote="partner"} 9\n');
  expect(text).toContain('dropgate_remote_failures_total{company="ACME",remote="partner"} 2\n');
  expect(text).toContain('dropgate_remote_failing{company="ACME",remote="partner"} 1\n');
  expect(text).toContain(
    'dropgate_remote_last_success_seconds{company="ACME",remote="partner"} 1790000000\n',
  );
  expect(text).not.toContain("dropgate_ledger_discrepancies");
  expect(renderMetrics({ ...source, discrepancies: () => 4 })).toContain("dropgate_ledger_discrepancies 4\n");
});

it("each target has its figures, and attempts are counted by outcome", () => {
  const text = renderMetrics(source);
  const labels = 'company="ACME",target="host"';
  for (const line of [
    `dropgate_deliveries_open{${labels}} 7`,
    `dropgate_deliveries_dead{${labels}} 2`,
    `dropgate_deliveries_oldest_seconds{${labels}} 61`,
    `dropgate_target_paused{${labels}} 1`,
    `dropgate_delivery_attempts_total{${labels},outcome="delivered"} 5`,
    `dropgate_delivery_attempts_total{${labels},outcome="failed"} 4`,
    `dropgate_delivery_attempts_total{${labels},outcome="dropped"} 6`,
    'dropgate_outbound_uncollected_files{company="ACME"} 3',
  ])
    expect(text).toContain(`${line}\n`);
});
