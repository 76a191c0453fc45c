import { expect, it, test } from "vitest";
import { cpuMsOf } from "../../../../test/support/cpu-time.ts";
import { familiesIn } from "../../../../test/support/exposition.ts";
import { sampleFigures } from "../../../../test/support/sample-figures.ts";
import { metricTable } from "./metric-table.ts";
import { renderMetrics } from "./render-metrics.ts";

const text = renderMetrics(metricTable, sampleFigures(2));

test.each([
  'dropgate_uploads_refused_total{company="COMPANY1",reason="no_space"} 4',
  "dropgate_intake_stopped 0",
  'dropgate_files_waiting{company="COMPANY1"} 3',
  'dropgate_files_waiting{company="COMPANY2"} 0',
  'dropgate_files_waiting_oldest_age_seconds{company="COMPANY1"} 61',
  'dropgate_files_received_total{channel="folder"} 2',
  'dropgate_files_received_bytes_total{channel="folder"} 4000',
  'dropgate_files_decided_total{company="COMPANY2",state="applied"} 1',
  'dropgate_files_decided_total{company="COMPANY2",state="refused"} 0',
  'dropgate_files_refused_total{reason="951"} 0',
  'dropgate_files_held{company="COMPANY1",reason="unreadable"} 2',
  'dropgate_files_held{company="COMPANY1",reason="kept_back"} 5',
  'dropgate_files_held{company="COMPANY2",reason="kept_back"} 0',
  'dropgate_files_held_oldest_age_seconds{company="COMPANY1"} 61',
  'dropgate_files_last_applied_timestamp_seconds{company="COMPANY1"} 1790000000',
  'dropgate_imports_waiting{company="COMPANY1"} 2',
  "dropgate_ledger_discrepancies 4",
  "dropgate_ledger_last_verification_timestamp_seconds 7",
  "dropgate_database_damaged 0",
  'dropgate_database_faults_total{kind="busy"} 3',
  'dropgate_connections{endpoint="sftp"} 2',
  'dropgate_sessions{endpoint="sftp"} 1',
  'dropgate_connections_refused_total{endpoint="sftp",reason="too_many_of_address"} 2',
  'dropgate_sign_ins_total{endpoint="sftp",outcome="turned_away"} 3',
  'dropgate_uploads_total{endpoint="sftp",outcome="broken"} 1',
  'dropgate_transferred_bytes_total{endpoint="http",direction="out"} 20',
  'dropgate_deliveries_open{company="COMPANY1",target="host"} 7',
  'dropgate_deliveries_oldest_age_seconds{company="COMPANY1",target="host"} 61',
  'dropgate_target_paused{company="COMPANY1",target="host"} 1',
  'dropgate_delivery_attempts_total{company="COMPANY1",target="host",outcome="failed"} 4',
  'dropgate_delivery_lag_seconds_bucket{company="COMPANY1",target="host",le="1"} 0',
  'dropgate_delivery_lag_seconds_bucket{company="COMPANY1",target="host",le="5"} 1',
  'dropgate_delivery_lag_seconds_bucket{company="COMPANY1",target="host",le="+Inf"} 1',
  'dropgate_delivery_lag_seconds_sum{company="COMPANY1",target="host"} 2',
  'dropgate_delivery_lag_seconds_count{company="COMPANY1",target="host"} 1',
  'dropgate_commit_duration_seconds_bucket{le="1"} 0',
  "dropgate_commit_duration_seconds_count 0",
  'dropgate_outbound_uncollected_files{company="COMPANY1"} 3',
  'dropgate_export_next_timestamp_seconds{company="COMPANY2",export="nightly"} 8',
  'dropgate_export_last_timestamp_seconds{company="COMPANY2",export="nightly"} 0',
  'dropgate_remote_files_total{company="COMPANY1",remote="partner"} 9',
  'dropgate_remote_last_success_timestamp_seconds{company="COMPANY1",remote="partner"} 1790000000',
  'dropgate_build_info{version="1.2.3",commit="abc",node="22"} 1',
  "dropgate_config_last_reload_successful 0",
  "process_start_time_seconds 1790000000.5",
  "dropgate_backup_last_success_timestamp_seconds 1790000000",
  "dropgate_deliveries_held 1",
  'dropgate_node_lanes{stage="working"} 3',
  "dropgate_node_lost_leases_total 2",
  "dropgate_node_silent_seconds 0.25",
  "dropgate_nodes 4",
])("%s", (line) => {
  expect(text.split("\n")).toContain(line);
});

it("a metric has its help and type once, above all of its series", () => {
  const families = familiesIn(text);
  expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
  expect(text).toContain("# TYPE dropgate_files_decided_total counter\n");
});

it("labels are escaped, and a metric without a series is left out", () => {
  const figures = sampleFigures(1);
  const companies = [{ id: 1, code: 'A"\\\nCME' }];
  const odd = renderMetrics(metricTable, {
    ...figures,
    remotes: [],
    stored: { ...figures.stored, companies },
  });
  expect(odd).toContain('dropgate_files_waiting{company="A\\"\\\\\\nCME"} 3\n');
  expect(odd).not.toContain("dropgate_remote_files_total");
});

it("200 companies take not much more processor time than their lines alone", () => {
  const figures = sampleFigures(200);
  const lines = renderMetrics(metricTable, figures).split("\n");
  expect(lines.length).toBeGreaterThan(8_000);
  const rounds = 20;
  const floor = () => {
    for (let round = 0; round < rounds; round += 1) {
      let copy = "";
      for (const line of lines) {
        const at = line.lastIndexOf(" ");
        copy += `${line.slice(0, at)} ${Number(line.slice(at + 1))}\n`;
      }
      expect(copy.length).toBeGreaterThan(100_000);
    }
  };
  const render = () => {
    for (let round = 0; round < rounds; round += 1)
      expect(renderMetrics(metricTable, figures).length).toBeGreaterThan(100_000);
  };
  render();
  const [floorMs, renderMs] = [cpuMsOf(floor), cpuMsOf(render)];
  expect(renderMs / Math.max(floorMs, 1)).toBeLessThan(12);
});
