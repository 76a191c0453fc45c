import { expect, it } from "vitest";
import { type MetricsSource, renderMetrics } from "./metrics.ts";

const source: MetricsSource = {
  statistics: () => ({
    waiting: [{ company: "ACME", count: 3 }],
    decided: [{ company: 'A"\\CME', state: "applied", count: 12 }],
    unfiled: 1,
  }),
  connections: () => ({ sftp: 2 }),
  discrepancies: () => undefined,
  isReady: () => true,
};

it("metrics have help, type and escaped labels, and leave out what is not known yet", () => {
  const text = renderMetrics(source);
  expect(text).toContain('dropgate_files_waiting{company="ACME"} 3\n');
  expect(text).toContain('dropgate_files_decided_total{company="A\\"\\\\CME",state="applied"} 12\n');
  expect(text).toContain('dropgate_connections{endpoint="sftp"} 2\n');
  expect(text).toContain("# TYPE dropgate_files_decided_total counter\n");
  expect(text).not.toContain("dropgate_ledger_discrepancies");
  expect(renderMetrics({ ...source, discrepancies: () => 4 })).toContain("dropgate_ledger_discrepancies 4\n");
});
