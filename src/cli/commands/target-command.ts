import type { TargetView } from "../../app/admin/pause-admin.ts";
import type { CliCommand, CommonOptions } from "../command-line.ts";
import { tableLines } from "../table.ts";
import { declarePauseAndResume } from "./pause-commands.ts";

const head = ["COMPANY", "TARGET", "CONDITION", "OPEN", "DEAD", "OLDEST OPEN", "REMARK"];

function remarkOf({ condition, pausedBy, pausedAt, reason, pausedUntil, failures }: TargetView): string {
  if (condition === "paused")
    return `paused by ${pausedBy ?? "?"} since ${pausedAt ?? "?"}: ${reason ?? "?"}`;
  if (condition === "notConfigured") return "not in the configuration";
  return condition === "failing" ? `failed ${failures} in a row, tried again ${pausedUntil ?? "soon"}` : "-";
}

function rowOf(view: TargetView): (string | number)[] {
  const { company, target, condition, open, dead, oldestOpenAt } = view;
  return [company, target, condition, open, dead, oldestOpenAt ?? "-", remarkOf(view)];
}

function listLines(targets: readonly TargetView[]): readonly string[] {
  if (targets.length === 0) return ["There is no target yet."];
  return tableLines(head, targets.map(rowOf));
}

/** `dropgate target list|pause|resume` */
export function declareTarget(program: CliCommand): void {
  const target = program.declare("target", "where files go out to");
  target
    .declare("list", "list the targets with what waits for them, and who has paused them")
    .withJson()
    .option("--company <code>", "targets of a company")
    .onConfig(async (run, config, options: CommonOptions) => {
      const { listTargets } = await import("../../app/admin/pause-admin.ts");
      run.printResult(options, await listTargets(config, options), listLines);
    });
  declarePauseAndResume(target, "target");
}
