/** Rows of the table of metrics: this node among those that share a database. */
import { type Metric, one } from "./metric.ts";

const keeper = "src/cluster/lease-keeper.ts";

export const nodeMetrics: readonly Metric[] = [
  {
    name: "dropgate_node_lanes",
    type: "gauge",
    help: "Leases of companies that this node has, with one for what concerns no company, by stage; 0 on SQLite.",
    labels: ["stage"],
    countedIn: keeper,
    atStart: "as taken over",
    samples: ({ node }) => Object.entries(node.lanes).map(([stage, count]) => [[stage], count]),
  },
  {
    name: "dropgate_node_lost_leases_total",
    type: "counter",
    help: "Leases that this node has lost to others while it did the work, since the start.",
    labels: [],
    countedIn: "src/cluster/held-lanes.ts",
    samples: ({ node }) => one(node.lost),
  },
  {
    name: "dropgate_node_silent_seconds",
    type: "gauge",
    help: "How long ago the database took the last report of this node, which it makes each second.",
    labels: [],
    countedIn: "src/cluster/lease-rounds.ts",
    atStart: "as measured",
    samples: ({ node }) => one(node.silentMs / 1_000),
  },
  {
    name: "dropgate_nodes",
    type: "gauge",
    help: "Nodes of this database that are there, as this one sees it; 1 on SQLite.",
    labels: [],
    countedIn: "src/store/cluster/live-nodes.ts",
    atStart: "1",
    samples: ({ node }) => one(node.nodes),
  },
];
