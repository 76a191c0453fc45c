import type { RemoteView } from "../../app/admin/remote-admin.ts";
import type { CliCommand, CommonOptions } from "../command-line.ts";
import { tableLines } from "../table.ts";

function whenText({ condition, pausedUntil, askedAt }: RemoteView): string {
  if (condition === "asked") return `asked for ${askedAt ?? ""}`.trim();
  return pausedUntil === null ? "by its schedule" : `tried again ${pausedUntil}`;
}

function remoteRow(remote: RemoteView): (string | number)[] {
  const { company, server, condition, succeededAt, failures, fault } = remote;
  return [
    ...[company, remote.remote, server, condition, succeededAt ?? "-", whenText(remote)],
    ...[failures, fault ?? "-"],
  ];
}

const head = ["COMPANY", "REMOTE", "SERVER", "CONDITION", "LAST SUCCESS", "NEXT", "FAILED", "FAULT"];

/** Why the first one that fails does so, and what ends its pause. */
function hintLines(remotes: readonly RemoteView[]): string[] {
  const failing = remotes.find(({ condition }) => condition === "failing");
  if (failing === undefined) return [];
  const { remote, message } = failing;
  return ["", `${remote}: ${message ?? ""}`, `\`dropgate remote retry ${remote}\` tries it at once.`];
}

function listLines(remotes: readonly RemoteView[]): readonly string[] {
  if (remotes.length === 0) return ["There is no remote in the configuration."];
  return [...tableLines(head, remotes.map(remoteRow)), ...hintLines(remotes)];
}

function declareList(remote: CliCommand): void {
  remote
    .declare("list", "list the servers that files are fetched from, with their state")
    .withJson()
    .option("--company <code>", "remotes of a company")
    .onConfig(async (run, config, options: CommonOptions) => {
      const { listRemotes } = await import("../../app/admin/remote-admin.ts");
      run.printResult(options, await listRemotes(config, options), listLines);
    });
}

function declareRetry(remote: CliCommand): void {
  remote
    .declare("retry", "fetch from a server at once: ends its pause and those of its files")
    .argument("<name>", "name of the remote in the configuration")
    .option("--company <code>", "only that of a company")
    .onConfig(async (run, config, name: string, options: CommonOptions) => {
      const { retryRemote } = await import("../../app/admin/remote-admin.ts");
      const { companies, daemonPid } = await retryRemote(config, { name, ...options });
      const when =
        daemonPid === undefined
          ? "The daemon is not running: its next start does it."
          : `The daemon (process ${daemonPid}) begins within a second; \`dropgate remote list\` shows the result.`;
      run.printLines([`The remote ${name} of ${companies.join(", ")} is due for a poll at once. ${when}`]);
    });
}

/** `dropgate remote list|retry` */
export function declareRemote(program: CliCommand): void {
  const remote = program.declare("remote", "servers that files are fetched from");
  declareList(remote);
  declareRetry(remote);
}
