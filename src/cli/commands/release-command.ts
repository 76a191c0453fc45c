import type { ReleasedDeliveries } from "../../app/admin/release-admin.ts";
import type { CliCommand, CommonOptions } from "../command-line.ts";
import { counted } from "../../lib/counted.ts";
import { whenText } from "../repeats.ts";

function releaseLines({ isReleased, targets, sendAgain, ...daemons }: ReleasedDeliveries): readonly string[] {
  if (!isReleased) return ["Deliveries are not held."];
  const open = targets.map(
    (one) => `  ${one.company}, ${one.target}: ${counted(one.open, "delivery", "deliveries")}`,
  );
  const what =
    open.length === 0
      ? ["Deliveries are released; none was waiting."]
      : ["Deliveries are released:", ...open];
  return [...what, whenText(daemons), ...(sendAgain === undefined ? [] : [`Remember: ${sendAgain}.`])];
}

/** `dropgate delivery release` */
export function declareRelease(delivery: CliCommand): void {
  delivery
    .declare("release", "let deliveries go out again that are held since a restore")
    .withJson()
    .addHelpText(
      "after",
      "\nWhat is not wanted any more is given up before: see `dropgate deliveries` and `dropgate delivery give-up`.",
    )
    .onConfig(async (run, config, options: CommonOptions) => {
      const { releaseDeliveries } = await import("../../app/admin/release-admin.ts");
      run.printResult(options, await releaseDeliveries(config), releaseLines);
    });
}
