/** What a node is to the others of its database. */
import { integer, optional, path, section, text } from "../reader/setting.ts";

export const clusterSection = section(
  "Several nodes that serve the same companies, with one database of PostgreSQL (`store`) and one state directory that each of them has mounted.",
  {
    node: optional(text)("Name of this node, another one for each; by default that of the machine.", {
      ...{ example: "gate-1", needsRestart: true, isAlternative: true, maxLength: 63 },
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      form: "letters, digits, dots, hyphens and underscores, a letter or digit first",
    }),
    nodeDir: optional(path)(
      "What this node alone has: its lock, its process id, and exports while they are made. By default the folder `nodes/NAME` of stateDir.",
      { example: "/var/lib/dropgate-node", needsRestart: true, isAlternative: true },
    ),
    leaseMs: integer(
      "How long a node that does not answer keeps its companies; after that others go on with their files and deliveries. The same on all nodes.",
      { default: 10_000, range: [2_000, 600_000], needsRestart: true },
    ),
  },
);
