import type { Command } from "commander";
import type { OptOutChange } from "../app/admin/message-admin.ts";
import { type CliRun, declare, printJson, printLines, requireConfig, withJson } from "./command-line.ts";
import { tableLines } from "./table.ts";

interface CompanyOption {
  readonly company?: string;
}

function optionsOf(address: string, { company }: CompanyOption) {
  return company === undefined ? { address } : { address, companyCode: company };
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

function declareList(optOut: Command, run: CliRun): void {
  withJson(declare(optOut, "list", "list the addresses that want no messages"))
    .option("--company <code>", "those of a company")
    .action(async (options: CompanyOption & { readonly json?: true }, command: Command) => {
      const config = await requireConfig(run, command);
      const { listOptOuts } = await import("../app/admin/message-admin.ts");
      const all = await listOptOuts(config, options.company);
      if (options.json) printJson(run, all);
      else if (all.length === 0) printLines(run, ["No address has opted out."]);
      else {
        const rows = all.map(({ company, address, createdAt }) => [company, address, createdAt]);
        printLines(run, tableLines(["COMPANY", "ADDRESS", "SINCE"], rows));
      }
    });
}

/** `dropgate messages opt-out add|remove|list` */
export function declareMessages(program: Command, run: CliRun): void {
  const messages = declare(program, "messages", "messages to customers");
  const optOut = declare(messages, "opt-out", "addresses that want no messages");
  declare(optOut, "add", "send no more messages to an address")
    .argument("<address>", "e-mail address or telephone number")
    .option("--company <code>", companyText)
    .action(async (address: string, options: CompanyOption, command: Command) => {
      const config = await requireConfig(run, command);
      const { optOut: add } = await import("../app/admin/message-admin.ts");
      printLines(run, [addedLine(await add(config, optionsOf(address, options)))]);
    });
  declare(optOut, "remove", "allow messages to an address again")
    .argument("<address>", "e-mail address or telephone number")
    .option("--company <code>", companyText)
    .action(async (address: string, options: CompanyOption, command: Command) => {
      const config = await requireConfig(run, command);
      const { endOptOut } = await import("../app/admin/message-admin.ts");
      printLines(run, [removedLine(await endOptOut(config, optionsOf(address, options)))]);
    });
  declareList(optOut, run);
}
