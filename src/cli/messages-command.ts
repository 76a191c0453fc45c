import type { Command } from "commander";
import type { OptOutChange, OptOutView } from "../app/admin/message-admin.ts";
import { given } from "../lib/given.ts";
import {
  type CliRun,
  type CommonOptions,
  declare,
  onConfig,
  printLines,
  printResult,
  withJson,
} from "./command-line.ts";
import { tableLines } from "./table.ts";

function optionsOf(address: string, { company }: CommonOptions) {
  return { address, ...given({ companyCode: company }) };
}

function addedLine({ address, company, isChanged }: OptOutChange): string {
  return isChanged
    ? `${address} gets no more messages of ${company}.`
    : `${address} gets no messages of ${company} already.`;
}

function removedLine({ address, company, isChanged }: OptOutChange): string {
  return isChanged
    ? `${address} gets messages of ${company} again.`
    : `${address} was not on the list of ${company}.`;
}

const companyText = "code of the company; not needed when there is just one";

function listLines(optOuts: readonly OptOutView[]): readonly string[] {
  if (optOuts.length === 0) return ["No address has opted out."];
  const rows = optOuts.map(({ company, address, createdAt }) => [company, address, createdAt]);
  return tableLines(["COMPANY", "ADDRESS", "SINCE"], rows);
}

function declareList(optOut: Command, run: CliRun): void {
  withJson(declare(optOut, "list", "list the addresses that want no messages"))
    .option("--company <code>", "those of a company")
    .action(
      onConfig(run, async (config, options: CommonOptions) => {
        const { listOptOuts } = await import("../app/admin/message-admin.ts");
        printResult(run, options, await listOptOuts(config, options.company), listLines);
      }),
    );
}

/** `dropgate messages opt-out add|remove|list` */
export function declareMessages(program: Command, run: CliRun): void {
  const messages = declare(program, "messages", "messages to customers");
  const optOut = declare(messages, "opt-out", "addresses that want no messages");
  declare(optOut, "add", "send no more messages to an address")
    .argument("<address>", "e-mail address or telephone number")
    .option("--company <code>", companyText)
    .action(
      onConfig(run, async (config, address: string, options: CommonOptions) => {
        const { optOut: add } = await import("../app/admin/message-admin.ts");
        printLines(run, [addedLine(await add(config, optionsOf(address, options)))]);
      }),
    );
  declare(optOut, "remove", "allow messages to an address again")
    .argument("<address>", "e-mail address or telephone number")
    .option("--company <code>", companyText)
    .action(
      onConfig(run, async (config, address: string, options: CommonOptions) => {
        const { endOptOut } = await import("../app/admin/message-admin.ts");
        printLines(run, [removedLine(await endOptOut(config, optionsOf(address, options)))]);
      }),
    );
  declareList(optOut, run);
}
