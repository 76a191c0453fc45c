import { InvalidArgumentError } from "commander";
import { WrongUseError } from "../../app/admin/wrong-use-error.ts";
import type { CliCommand } from "../command-line.ts";
import { counted } from "../../lib/counted.ts";
import { printRepeats, readNumbers } from "../repeats.ts";
import { countText, isConfirmed } from "../selections.ts";

interface Options {
  readonly reason: string;
  readonly all?: true;
  readonly target?: string;
  readonly company?: string;
  readonly yes?: true;
}

const longestReason = 500;
const noun = ["delivery", "deliveries"] as const;

/** A reason as an option has it. */
export function readReason(text: string): string {
  const reason = text.trim();
  if (reason === "") throw new InvalidArgumentError("It must not be empty.");
  if ([...reason].length > longestReason)
    throw new InvalidArgumentError(`It must have at most ${longestReason} characters.`);
  return reason;
}

/** The target all of whose deliveries are to be given up; undefined when some are, by their numbers. */
function requireOneWay(ids: readonly number[], { all, target, company, yes }: Options): string | undefined {
  if (all === true && target !== undefined && ids.length === 0) return target;
  const hasNoFilter = [all, target, company, yes].every((option) => option === undefined);
  if (hasNoFilter && ids.length > 0) return undefined;
  throw new WrongUseError(
    "name the numbers of deliveries, or --all with --target (and --company) for all of a target",
  );
}

/** Gives up what waits or is dead when it begins, and was shown before the question: nothing that joins later. */
async function giveUpAll(command: CliCommand, target: string, options: Options): Promise<void> {
  const { run } = command;
  const { currentOperator, giveUpListed, listForTarget } = await import("../../app/admin/give-up-admin.ts");
  const by = currentOperator(run.io.env);
  const config = await command.requireConfig();
  const ids = await listForTarget(config, { ...options, target });
  if (ids.length === 0) return run.printLines([`Nothing to ${target} waits or is dead.`]);
  const to = ` to ${target}`;
  const wouldBe = `${countText(ids, noun, to)} would be given up`;
  if (!(await isConfirmed(run, options, wouldBe, `give ${ids.length === 1 ? "it" : "them"} up`))) return;
  const done = await giveUpListed(config, ids, { by, reason: options.reason });
  run.printLines([`${countText(done, noun, to)} given up.`]);
  const left = ids.length - done.length;
  if (left > 0) run.printLines([`${counted(left, ...noun)} not: delivered, or given up, meanwhile.`]);
}

/** `dropgate delivery give-up` */
export function declareGiveUp(delivery: CliCommand): void {
  delivery
    .declare("give-up", "give deliveries up, so that the later ones of their stops go on")
    .argument("[id...]", "numbers of deliveries", readNumbers)
    .requiredOption("--reason <text>", "the reason, which `delivery show` prints later", readReason)
    .option("--all", "all of a target that wait or are dead")
    .option("--target <name>", "the target, with --all")
    .option("--company <code>", "only those of a company, with --all")
    .option("--yes", "give up all that --all selects")
    .addHelpText(
      "after",
      "\nA delivery that is given up is not sent; `dropgate delivery retry` asks for it again, and `dropgate delivery show`\nshows who gave it up, when and why. --all needs --yes; or an answer at the terminal; without them it prints which they are. Exit code 1\nwhen a named delivery is not given up.",
    )
    .action(async (named: readonly number[] | undefined, options: Options, command: CliCommand) => {
      const { run } = command;
      const ids = named ?? [];
      const target = requireOneWay(ids, options);
      if (target !== undefined) return await giveUpAll(command, target, options);
      const { currentOperator, giveUpDeliveries } = await import("../../app/admin/give-up-admin.ts");
      const by = currentOperator(run.io.env);
      const config = await command.requireConfig();
      const report = await giveUpDeliveries(config, ids, { by, reason: options.reason });
      printRepeats(run, {}, report, { done: "is given up", refused: "is not given up" });
    });
}
