/** HAProxy before the nodes of a cluster: one address for SFTP and one for HTTP, on which nodes that are not ready get nothing. */
import { rm, writeFile } from "node:fs/promises";
import { freePort, type ServerProcess, startServer } from "./server-process.ts";

export interface Behind {
  readonly name: string;
  readonly httpPort: number;
  readonly sftpPort: number;
}

export interface Balancer {
  readonly httpPort: number;
  readonly sftpPort: number;
  end(): Promise<void>;
}

const head = [
  ...["global", "  maxconn 2000"],
  ...[
    "defaults",
    "  timeout connect 2s",
    "  timeout client 60s",
    "  timeout server 60s",
    "  timeout check 1s",
  ],
  ...["  option redispatch", "  retries 2", "  balance roundrobin", "  option httpchk GET /readyz"],
  "  default-server inter 500ms fastinter 250ms fall 2 rise 1 on-marked-down shutdown-sessions",
];

function serversOf(nodes: readonly Behind[], port: (node: Behind) => string): readonly string[] {
  return nodes.map((node) => `  server ${node.name} 127.0.0.1:${port(node)}`);
}

/** `file` is where its configuration is written. */
export async function startBalancer(file: string, nodes: readonly Behind[]): Promise<Balancer> {
  const [httpPort, sftpPort] = [await freePort(), await freePort()];
  const lines = [
    ...head,
    ...["listen sftp", "  mode tcp", `  bind 127.0.0.1:${sftpPort}`],
    ...serversOf(nodes, (node) => `${node.sftpPort} check port ${node.httpPort}`),
    ...["listen http", "  mode http", `  bind 127.0.0.1:${httpPort}`],
    ...serversOf(nodes, (node) => `${node.httpPort} check`),
  ];
  await writeFile(file, `${lines.join("\n")}\n`);
  const server: ServerProcess = await startServer(
    "setpriv",
    ["--pdeathsig", "KILL", "haproxy", "-db", "-f", file],
    httpPort,
  );
  return {
    ...{ httpPort, sftpPort },
    async end() {
      await server.end();
      await rm(file, { force: true });
    },
  };
}
