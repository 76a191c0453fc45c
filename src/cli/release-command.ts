import type { Command } from "commander";
import type { ReleasedDeliveries } from "../app/admin/release-admin.ts";
import {
  type CliRun,
  type CommonOptions,
  counted,
  declare,
  onConfig,
  printResult,
  withJson,
} from "./command-line.ts";
import { whenText } from "./repeats.ts";

/** The lines for people. */
function releaseLines({ isReleased, targets, sendAgain, daemonPid }: ReleasedDeliveries): readonly string[] {
  if (!isReleased) return ["Deliveries are not held."];
  const open = targets.map(
    (one) => `  ${one.company}, ${one.target}: ${counted(one.open, "delivery", "deliveries")}`,
  );
  const what =
    open.length === 0
      ? ["Deliveries are released; none was waiting."]
      : ["Deliveries are released:", ...open];
  return [...what, whenText(daemonPid), ...(sendAgain === undefined ? [] : [`Remember: ${sendAgain}.`])];
}

/** `dropgate delivery release` */
export function declareRelease(delivery: Command, run: CliRun): void {
  withJson(declare(delivery, "release", "let deliveries go out again that are held since a restore"))
    .addHelpText(
      "after",
      "\nWhat is not wanted any more is given up before: see `dropgate deliveries` and `dropgate delivery give-up`.",
    )
    .action(
      onConfig(run, async (config, options: CommonOptions) => {
        const { releaseDeliveries } = await import("../app/admin/release-admin.ts");
        printResult(run, options, await releaseDeliveries(config), releaseLines);
      }),
    );
}
