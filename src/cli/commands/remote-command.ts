import type { RemoteView } from "../../app/admin/remote-admin.ts";
import type { Config } from "../../config/schema.ts";
import { type CliCommand, type CliRun, type CommonOptions, wholeNumber } from "../command-line.ts";
import { daemonText } from "../repeats.ts";
import { declarePauseAndResume } from "./pause-commands.ts";
import { tableLines } from "../table.ts";

function whenText({ condition, pausedUntil, askedAt, pausedBy, pausedAt }: RemoteView): string {
  if (condition === "paused") return `paused by ${pausedBy ?? "?"} since ${pausedAt ?? "?"}`;
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

function outcomeText({ company, remote, condition, message, pausedUntil }: RemoteView): string {
  const what = `The remote ${remote} of ${company}`;
  if (condition === "asked" || condition === "new")
    return `${what} is still being polled; \`dropgate remote list\` shows the result.`;
  return condition === "fine"
    ? `${what} was polled without a fault; \`dropgate files --channel remote:${remote}\` lists what came.`
    : `${what} cannot be polled: ${message ?? "?"}; tried again ${pausedUntil ?? "soon"}.`;
}

interface RetryOptions extends CommonOptions {
  readonly wait: number;
}

async function printOutcome(run: CliRun, config: Config, name: string, options: RetryOptions): Promise<void> {
  const { awaitRetry } = await import("../../app/admin/remote-admin.ts");
  const patienceMs = options.wait * 1_000;
  for (const remote of await awaitRetry(config, { name, ...options, patienceMs })) {
    const text = outcomeText(remote);
    if (remote.condition === "failing") run.printFailure(text);
    else run.printLines([text]);
  }
}

function declareRetry(remote: CliCommand): void {
  remote
    .declare("retry", "fetch from a server at once: ends its pause and those of its files")
    .argument("<name>", "name of the remote in the configuration")
    .option("--company <code>", "only that of a company")
    .option("--wait <seconds>", "how long to wait for the result", wholeNumber(0, 3_600), 30)
    .addHelpText("after", "\nExit code 1 when the remote cannot be polled.")
    .onConfig(async (run, config, name: string, options: RetryOptions) => {
      const { retryRemote } = await import("../../app/admin/remote-admin.ts");
      const { companies, ...daemons } = await retryRemote(config, { name, ...options });
      const who = daemonText(daemons);
      const when =
        who === undefined
          ? "The daemon is not running: its next start does it."
          : `${who} begins within a second.`;
      run.printLines([`The remote ${name} of ${companies.join(", ")} is due for a poll at once. ${when}`]);
      if (who !== undefined && options.wait > 0) await printOutcome(run, config, name, options);
    });
}

/** `dropgate remote list|retry|pause|resume` */
export function declareRemote(program: CliCommand): void {
  const remote = program.declare("remote", "servers that files are fetched from");
  declareList(remote);
  declareRetry(remote);
  declarePauseAndResume(remote, "remote");
}
