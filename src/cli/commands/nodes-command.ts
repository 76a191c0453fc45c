import type { NodeView } from "../../app/admin/node-admin.ts";
import type { CliCommand, CommonOptions } from "../command-line.ts";
import { tableLines } from "../table.ts";

const head = ["NODE", "STATE", "COMPANIES", "VERSION", "SCHEMA", "SINCE", "LAST SEEN", "ADDRESS"];

function nodeRow(node: NodeView): (string | number)[] {
  const { state, companies, version, schema, startedAt, seenAt, address } = node;
  const listens = Object.entries(address).map(([protocol, at]) => `${protocol} ${at}`);
  return [
    ...[node.node, state, companies, version, schema, startedAt, seenAt],
    listens.length === 0 ? "-" : listens.join(", "),
  ];
}

function listLines(nodes: readonly NodeView[]): readonly string[] {
  return nodes.length === 0 ? ["No node has started yet."] : tableLines(head, nodes.map(nodeRow));
}

function drainText({ node, state, companies }: NodeView): string {
  if (state === "silent" || state === "stopped")
    return `The node ${node} is ${state}: the order goes for as long as it is not started anew.`;
  return (
    `The node ${node} gives its companies (${companies}) to the others, takes no further ones, and is not ready for ` +
    `new clients, until \`dropgate nodes resume ${node}\` or its next start.`
  );
}

/** `dropgate nodes`, `nodes drain` and `nodes resume` */
export function declareNodes(program: CliCommand): void {
  const nodes = program
    .declare("nodes", "list the nodes that share the database, and drain one for maintenance")
    .withJson()
    .onConfig(async (run, config, options: CommonOptions) => {
      const { listNodes } = await import("../../app/admin/node-admin.ts");
      run.printResult(options, await listNodes(config), listLines);
    });
  nodes
    .declare("drain", "have a node give its companies to the others, and take no more")
    .withJson()
    .argument("<name>", "name of the node")
    .onConfig(async (run, config, name: string, options: CommonOptions) => {
      const { orderNode } = await import("../../app/admin/node-admin.ts");
      const node = await orderNode(config, { name, isToDrain: true });
      run.printResult(options, node, (one: NodeView) => [drainText(one)]);
    });
  nodes
    .declare("resume", "have a node take its share of the companies again")
    .withJson()
    .argument("<name>", "name of the node")
    .onConfig(async (run, config, name: string, options: CommonOptions) => {
      const { orderNode } = await import("../../app/admin/node-admin.ts");
      const node = await orderNode(config, { name, isToDrain: false });
      run.printResult(options, node, (one: NodeView) => [
        `The node ${one.node} takes its share of the companies again.`,
      ]);
    });
}
