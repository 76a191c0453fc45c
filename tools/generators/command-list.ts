/** The commands of dropgate, as its own command line declares them, for the manual page and the completion. */
import type { Command, Option } from "commander";
import { CliRun } from "../../src/cli/command-line.ts";
import { createProgram } from "../../src/cli/run-cli.ts";

/** A command with the words that lead to it; the program itself has none. */
export interface ListedCommand {
  readonly words: readonly string[];
  readonly command: Command;
  /** What its help says behind the options. */
  readonly remark: string;
}

/** The program, and behind it every command, each behind its parent. */
export function listCommands(): readonly ListedCommand[] {
  let printed = "";
  const output = { write: (text: string) => (printed += text) };
  const below = (command: Command, words: readonly string[]): ListedCommand[] => {
    printed = "";
    command.outputHelp();
    const remark = printed.replace(command.helpInformation(), "").trim();
    const children = command.commands.flatMap((child) => below(child, [...words, child.name()]));
    return [{ words, command, remark }, ...children];
  };
  return below(createProgram(new CliRun({ env: {}, cwd: "/", stdout: output, stderr: output })), []);
}

/** The options that its help shows, but for that of the help itself. */
export function optionsOf({ command }: ListedCommand): readonly Option[] {
  return command.options.filter(({ hidden }) => !hidden);
}

/** A command with commands of its own does nothing by itself. */
export function isGroup({ command }: ListedCommand): boolean {
  return command.commands.length > 0;
}
