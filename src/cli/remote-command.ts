import type { Command } from "commander";
import type { RemoteView } from "../app/admin/remote-admin.ts";
import { type CliRun, declare, printJson, printLines, requireConfig, withJson } from "./command-line.ts";
import { tableLines } from "./table.ts";

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

function declareList(remote: Command, run: CliRun): void {
  withJson(declare(remote, "list", "list the servers that files are fetched from, with their state"))
    .option("--company <code>", "remotes of a company")
    .action(async ({ company, json }: { company?: string; json?: true }, command: Command) => {
      const config = await requireConfig(run, command);
      const { listRemotes } = await import("../app/admin/remote-admin.ts");
      const remotes = await listRemotes(config, company === undefined ? {} : { companyCode: company });
      if (json) return printJson(run, remotes);
      if (remotes.length === 0) return printLines(run, ["There is no remote in the configuration."]);
      printLines(run, [...tableLines(head, remotes.map(remoteRow)), ...hintLines(remotes)]);
    });
}

function declareRetry(remote: Command, run: CliRun): void {
  declare(remote, "retry", "fetch from a server at once: ends its pause and those of its files")
    .argument("<name>", "name of the remote in the configuration")
    .option("--company <code>", "only that of a company")
    .action(async (name: string, { company }: { company?: string }, command: Command) => {
      const config = await requireConfig(run, command);
      const { retryRemote } = await import("../app/admin/remote-admin.ts");
      const { companies, daemonPid } = await retryRemote(
        config,
        company === undefined ? { name } : { name, companyCode: company },
      );
      const when =
        daemonPid === undefined
          ? "The daemon is not running: its next start does it."
          : `The daemon (process ${daemonPid}) begins within a second; \`dropgate remote list\` shows the result.`;
      printLines(run, [`The remote ${name} of ${companies.join(", ")} is due for a poll at once. ${when}`]);
    });
}

/** `dropgate remote list|retry` */
export function declareRemote(program: Command, run: CliRun): void {
  const remote = declare(program, "remote", "servers that files are fetched from");
  declareList(remote, run);
  declareRetry(remote, run);
}
