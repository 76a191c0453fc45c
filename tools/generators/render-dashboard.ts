/** Writes `monitoring/dashboard.json`, a dashboard of Grafana: rows of panels, each with its queries. */

interface Query {
  readonly expr: string;
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  readonly unit: "short" | "s" | "bytes" | "Bps" | "ops" | "dateTimeFromNow";
  readonly kind?: "timeseries" | "stat";
  readonly queries: readonly Query[];
}

const rate = (name: string, labels: string) =>
  `sum by (${labels}) (rate(${name}{instance=~"$instance"}[$__rate_interval]))`;
const quantile = (share: number, name: string, labels: string) =>
  `histogram_quantile(${share}, sum by (${labels ? `${labels}, ` : ""}le) (rate(${name}_bucket{instance=~"$instance"}[$__rate_interval])))`;
const ofCompany = '{instance=~"$instance", company=~"$company"}';
const ofInstance = '{instance=~"$instance"}';

function panel(
  title: string,
  unit: Panel["unit"],
  ...queries: readonly (readonly [string, string])[]
): Panel {
  return { title, unit, queries: queries.map(([expr, legend]) => ({ expr, legend })) };
}

function stat(title: string, unit: Panel["unit"], expr: string, legend = "{{instance}}"): Panel {
  return { title, unit, kind: "stat", queries: [{ expr, legend }] };
}

const rows: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    "Now",
    [
      stat("Ready", "short", `dropgate_ready${ofInstance}`),
      stat("Files waiting", "short", `sum(dropgate_files_waiting${ofCompany})`, "files"),
      stat("Files held", "short", `sum(dropgate_files_held${ofCompany})`, "files"),
      stat(
        "Deliveries given up",
        "short",
        `sum(dropgate_deliveries_dead{instance=~"$instance"}) or vector(0)`,
        "deliveries",
      ),
      stat("Discrepancies", "short", `dropgate_ledger_discrepancies${ofInstance}`),
      stat("Version", "short", `dropgate_build_info${ofInstance}`, "{{version}} {{commit}}"),
    ],
  ],
  [
    "Files",
    [
      panel("Files decided", "ops", [
        `sum by (state) (rate(dropgate_files_decided_total${ofCompany}[$__rate_interval]))`,
        "{{state}}",
      ]),
      panel("Files received", "ops", [rate("dropgate_files_received_total", "channel"), "{{channel}}"]),
      panel("Bytes received", "Bps", [rate("dropgate_files_received_bytes_total", "channel"), "{{channel}}"]),
      panel("Files refused, by reason", "ops", [
        rate("dropgate_files_refused_total", "reason"),
        "{{reason}}",
      ]),
      panel(
        "From close to receipt",
        "s",
        [quantile(0.5, "dropgate_receipt_delay_seconds", "channel"), "{{channel}} median"],
        [quantile(0.95, "dropgate_receipt_delay_seconds", "channel"), "{{channel}} 95 %"],
      ),
      panel(
        "Files waiting",
        "short",
        [`dropgate_files_waiting${ofCompany}`, "{{company}}"],
        [`dropgate_files_unfiled${ofInstance}`, "not filed"],
      ),
      panel(
        "Oldest waiting file",
        "s",
        [`dropgate_files_waiting_oldest_age_seconds${ofCompany}`, "{{company}}"],
        [`dropgate_files_held_oldest_age_seconds${ofCompany}`, "{{company}} held"],
      ),
      panel("Last applied", "s", [
        `time() - (dropgate_files_last_applied_timestamp_seconds${ofCompany} > 0)`,
        "{{company}}",
      ]),
      panel("Expected arrivals that are late", "short", [
        `dropgate_expected_arrivals_late${ofCompany}`,
        "{{company}}",
      ]),
      panel("Imports waiting", "short", [`dropgate_imports_waiting${ofCompany}`, "{{company}}"]),
      panel("Oldest import that waits", "s", [
        `dropgate_imports_waiting_oldest_age_seconds${ofCompany}`,
        "{{company}}",
      ]),
      panel(
        "Uploads refused",
        "ops",
        [
          `sum by (company, reason) (rate(dropgate_uploads_refused_total${ofCompany}[$__rate_interval]))`,
          "{{company}} {{reason}}",
        ],
        [`dropgate_intake_stopped${ofInstance}`, "intake stopped"],
      ),
    ],
  ],
  [
    "Clients",
    [
      panel("Requests", "ops", [rate("dropgate_http_requests_total", "status"), "{{status}}"]),
      panel("Duration of requests, 95 %", "s", [
        quantile(0.95, "dropgate_http_request_duration_seconds", "route"),
        "{{route}}",
      ]),
      panel(
        "Connections",
        "short",
        [`dropgate_connections${ofInstance}`, "{{endpoint}}"],
        [`dropgate_sessions${ofInstance}`, "{{endpoint}} signed in"],
      ),
      panel("Connections refused", "ops", [
        rate("dropgate_connections_refused_total", "endpoint, reason"),
        "{{endpoint}} {{reason}}",
      ]),
      panel("Sign-ins", "ops", [
        rate("dropgate_sign_ins_total", "endpoint, outcome"),
        "{{endpoint}} {{outcome}}",
      ]),
      panel(
        "Bans",
        "short",
        [`dropgate_addresses_banned${ofInstance}`, "banned now"],
        [`increase(dropgate_bans_total${ofInstance}[1h])`, "begun within an hour"],
      ),
      panel("Bytes transferred", "Bps", [
        rate("dropgate_transferred_bytes_total", "endpoint, direction"),
        "{{endpoint}} {{direction}}",
      ]),
      panel("Uploads", "ops", [
        rate("dropgate_uploads_total", "endpoint, outcome"),
        "{{endpoint}} {{outcome}}",
      ]),
      panel("Certificates expire in", "s", [
        `dropgate_certificate_expiry_timestamp_seconds${ofInstance} - time()`,
        "{{endpoint}}",
      ]),
    ],
  ],
  [
    "Outbound",
    [
      panel(
        "Deliveries open",
        "short",
        [`dropgate_deliveries_open${ofCompany}`, "{{company}} {{target}}"],
        [`dropgate_deliveries_dead${ofCompany}`, "{{company}} {{target}} given up"],
      ),
      panel("Oldest delivery", "s", [
        `dropgate_deliveries_oldest_age_seconds${ofCompany}`,
        "{{company}} {{target}}",
      ]),
      panel("Time until delivered, 95 %", "s", [
        quantile(0.95, "dropgate_delivery_lag_seconds", "company, target"),
        "{{company}} {{target}}",
      ]),
      panel(
        "Attempts",
        "ops",
        [
          `sum by (target, outcome) (rate(dropgate_delivery_attempts_total${ofCompany}[$__rate_interval]))`,
          "{{target}} {{outcome}}",
        ],
        [`dropgate_target_paused${ofCompany}`, "{{target}} paused"],
        [`dropgate_target_paused_by_hand${ofCompany}`, "{{target}} paused by hand"],
      ),
      panel(
        "Exports",
        "s",
        [
          `time() - (dropgate_export_last_timestamp_seconds${ofCompany} > 0)`,
          "{{company}} {{export}} since the last",
        ],
        [
          `dropgate_export_next_timestamp_seconds${ofCompany} - time()`,
          "{{company}} {{export}} until the next",
        ],
      ),
      panel("Deliveries held since a restore", "short", [
        `dropgate_deliveries_held${ofInstance}`,
        "{{instance}}",
      ]),
      panel("Open incidents", "short", [`dropgate_open_incidents${ofInstance}`, "{{instance}} {{kind}}"]),
      panel("Files not collected", "short", [
        `dropgate_outbound_uncollected_files${ofCompany}`,
        "{{company}}",
      ]),
      panel("Remotes: files taken", "ops", [
        `rate(dropgate_remote_files_total${ofCompany}[$__rate_interval])`,
        "{{company}} {{remote}}",
      ]),
      panel("Remotes: last success", "dateTimeFromNow", [
        `1000 * dropgate_remote_last_success_timestamp_seconds${ofCompany}`,
        "{{company}} {{remote}}",
      ]),
      panel(
        "Remotes: faults",
        "ops",
        [`rate(dropgate_remote_failures_total${ofCompany}[$__rate_interval])`, "{{company}} {{remote}}"],
        [`dropgate_remote_failing${ofCompany}`, "{{company}} {{remote}} failing"],
        [`dropgate_remote_paused_by_hand${ofCompany}`, "{{company}} {{remote}} paused by hand"],
      ),
    ],
  ],
  [
    "The program",
    [
      panel("Memory", "bytes", [
        `process_resident_memory_bytes{job="dropgate", instance=~"$instance"}`,
        "{{instance}}",
      ]),
      panel("Processor", "short", [
        `rate(process_cpu_seconds_total{job="dropgate", instance=~"$instance"}[$__rate_interval])`,
        "{{instance}}",
      ]),
      panel("Lag of the event loop", "s", [quantile(0.99, "dropgate_event_loop_lag_seconds", ""), "99 %"]),
      panel(
        "Duration of commits",
        "s",
        [quantile(0.5, "dropgate_commit_duration_seconds", ""), "median"],
        [quantile(0.95, "dropgate_commit_duration_seconds", ""), "95 %"],
      ),
      panel(
        "Commits",
        "ops",
        [`rate(dropgate_commit_duration_seconds_count${ofInstance}[$__rate_interval])`, "commits"],
        [`rate(dropgate_commit_units_total${ofInstance}[$__rate_interval])`, "units of work"],
      ),
      panel(
        "Size of the database",
        "bytes",
        [`dropgate_database_size_bytes${ofInstance}`, "database"],
        [`dropgate_database_wal_size_bytes${ofInstance}`, "write-ahead log"],
      ),
      panel(
        "Faults of the database",
        "ops",
        [rate("dropgate_database_faults_total", "kind"), "{{kind}}"],
        [`dropgate_database_damaged${ofInstance}`, "damaged"],
      ),
      panel(
        "Disk",
        "bytes",
        [`dropgate_disk_free_bytes${ofInstance}`, "free"],
        [`dropgate_disk_min_free_bytes${ofInstance}`, "least"],
      ),
      panel("Removed because of its age", "short", [
        `increase(dropgate_retention_pruned_total${ofInstance}[1d])`,
        "{{kind}}",
      ]),
      panel(
        "Retention paused by the clock, or failing",
        "short",
        [`dropgate_retention_paused${ofInstance}`, "paused"],
        [`dropgate_retention_failing${ofInstance}`, "failing"],
      ),
      panel("Last backup", "dateTimeFromNow", [
        `1000 * dropgate_backup_last_success_timestamp_seconds${ofInstance}`,
        "{{instance}}",
      ]),
      panel(
        "Backups that fail, or make no progress",
        "s",
        [`dropgate_backup_failing${ofInstance}`, "failing"],
        [`dropgate_backup_idle_seconds${ofInstance}`, "without progress"],
      ),
      panel("Since the last verification", "s", [
        `time() - (dropgate_ledger_last_verification_timestamp_seconds${ofInstance} > 0)`,
        "{{instance}}",
      ]),
      panel(
        "Since the last start and reload",
        "s",
        [`time() - process_start_time_seconds{job="dropgate", instance=~"$instance"}`, "start"],
        [`time() - dropgate_config_last_reload_success_timestamp_seconds${ofInstance}`, "configuration"],
        [`1 - dropgate_config_last_reload_successful${ofInstance}`, "reload failed"],
      ),
    ],
  ],
  [
    "Several nodes",
    [
      panel("Nodes", "short", [`dropgate_nodes${ofInstance}`, "seen by {{instance}}"]),
      panel("Companies, by node and stage", "short", [
        `dropgate_node_lanes${ofInstance}`,
        "{{instance}} {{stage}}",
      ]),
      panel(
        "Leases lost, and silence",
        "short",
        [`increase(dropgate_node_lost_leases_total${ofInstance}[$__rate_interval])`, "{{instance}} lost"],
        [`dropgate_node_silent_seconds${ofInstance}`, "{{instance}} silent, in seconds"],
      ),
    ],
  ],
];

const datasource = { type: "prometheus", uid: "$datasource" };
const [columns, panelHeight, statHeight] = [24, 8, 4];

/** A panel at its place; the grid of Grafana has 24 columns. */
function panelJson(
  { title, unit, kind = "timeseries", queries }: Panel,
  id: number,
  gridPos: object,
): object {
  return {
    ...{ id, title, type: kind, datasource, gridPos },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: kind === "stat" ? { textMode: "value_and_name" } : { legend: { displayMode: "list" } },
    targets: queries.map(({ expr, legend }, at) => ({
      ...{ refId: String.fromCharCode(65 + at), datasource, expr, legendFormat: legend },
    })),
  };
}

function panelsJson(): object[] {
  const placed: object[] = [];
  let y = 0;
  for (const [title, panels] of rows) {
    placed.push({
      id: placed.length + 1,
      type: "row",
      title,
      collapsed: false,
      panels: [],
      gridPos: { h: 1, w: columns, x: 0, y },
    });
    y += 1;
    const isStats = panels.every(({ kind }) => kind === "stat");
    const [w, h] = isStats ? [4, statHeight] : [8, panelHeight];
    for (const [at, one] of panels.entries()) {
      const x = (at * w) % columns;
      placed.push(panelJson(one, placed.length + 1, { h, w, x, y: y + Math.floor((at * w) / columns) * h }));
    }
    y += Math.ceil((panels.length * w) / columns) * h;
  }
  return placed;
}

function variable(name: string, label: string, query: string): object {
  const choice = { includeAll: true, multi: true, allValue: ".*", current: { text: "All", value: "$__all" } };
  return { name, label, type: "query", datasource, query: { query, refId: name }, refresh: 2, ...choice };
}

/** The text of `monitoring/dashboard.json`. */
export function renderDashboard(): string {
  const dashboard = {
    ...{
      title: "dropgate",
      uid: "dropgate",
      tags: ["dropgate"],
      schemaVersion: 39,
      version: 1,
      editable: true,
    },
    ...{ timezone: "browser", refresh: "30s", time: { from: "now-6h", to: "now" } },
    templating: {
      list: [
        { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
        variable("instance", "Instance", "label_values(dropgate_ready, instance)"),
        variable(
          "company",
          "Company",
          'label_values(dropgate_files_waiting{instance=~"$instance"}, company)',
        ),
      ],
    },
    panels: panelsJson(),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}
