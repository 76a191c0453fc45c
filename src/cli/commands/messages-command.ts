import type { OptOutChange, OptOutView } from "../../app/admin/message-admin.ts";
import type { CliCommand, CommonOptions } from "../command-line.ts";
import { tableLines } from "../table.ts";

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

function declareList(optOut: CliCommand): void {
  optOut
    .declare("list", "list the addresses that want no messages")
    .withJson()
    .option("--company <code>", "those of a company")
    .onConfig(async (run, config, options: CommonOptions) => {
      const { listOptOuts } = await import("../../app/admin/message-admin.ts");
      run.printResult(options, await listOptOuts(config, options.company), listLines);
    });
}

/** `dropgate messages opt-out add|remove|list` */
export function declareMessages(program: CliCommand): void {
  const messages = program.declare("messages", "messages to customers");
  const optOut = messages.declare("opt-out", "addresses that want no messages");
  optOut
    .declare("add", "send no more messages to an address")
    .argument("<address>", "e-mail address or telephone number")
    .option("--company <code>", companyText)
    .onConfig(async (run, config, address: string, options: CommonOptions) => {
      const { optOut: add } = await import("../../app/admin/message-admin.ts");
      run.printLines([addedLine(await add(config, { address, ...options }))]);
    });
  optOut
    .declare("remove", "allow messages to an address again")
    .argument("<address>", "e-mail address or telephone number")
    .option("--company <code>", companyText)
    .onConfig(async (run, config, address: string, options: CommonOptions) => {
      const { endOptOut } = await import("../../app/admin/message-admin.ts");
      run.printLines([removedLine(await endOptOut(config, { address, ...options }))]);
    });
  declareList(optOut);
}
