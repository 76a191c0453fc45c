/** The manual pages: dropgate(1) from the commands that the program declares, dropgate.yaml(5) from its settings. */
import { exitCodes } from "../../src/cli/command-line.ts";
import { childrenOf, type ListedSetting, settingsBelow } from "../../src/config/reader/setting-list.ts";
import { configSchema } from "../../src/config/schema.ts";
import { isGroup, type ListedCommand, listCommands, optionsOf } from "./command-list.ts";
import { roffArgument, roffBold, roffItem, roffProse, roffTitle } from "./roff-text.ts";
import { descriptionWithRestart, hasValue, isSection, limitsOf, shownValue, typeOf } from "./setting-text.ts";

function commandText(listed: ListedCommand): string {
  const { command, remark } = listed;
  const help = command.createHelp();
  const shown = help
    .visibleArguments(command)
    .map((one) => roffItem(roffBold(one.name()), roffProse(help.argumentDescription(one))));
  const options = optionsOf(listed)
    .filter(({ long }) => long !== "--config")
    .map((one) => roffItem(roffBold(one.flags), roffProse(help.optionDescription(one))));
  return [
    `.SS ${roffArgument(help.commandUsage(command))}`,
    roffProse(command.description()),
    ...shown,
    ...options,
    ...(remark === "" ? [] : [".PP", roffProse(remark)]),
  ].join("\n");
}

const exits: Readonly<Record<keyof typeof exitCodes, string>> = {
  fine: "fine",
  failure: "failure, or a check of files, deliveries or the ledger found a fault",
  wrongUse: "wrong use or configuration; problems found by `dropgate check`",
};

function exitItem([name, code]: [string, number]): string {
  return roffItem(String(code), roffProse(exits[name as keyof typeof exitCodes]));
}

/** dropgate(1) */
export function renderProgramPage(version: string, seconds: number): string {
  const [program, ...commands] = listCommands();
  if (program === undefined) throw new Error("the program declares no command");
  return `${roffTitle("DROPGATE", 1, version, seconds)}
.SH NAME
dropgate \\- file\\-integration daemon for stop orders
.SH SYNOPSIS
.B dropgate
[\\fB\\-\\-config\\fR \\fIfile\\fR] \\fIcommand\\fR [\\fIarguments\\fR]
.SH DESCRIPTION
${roffProse(program.command.description())}
.PP
All commands but
.B serve
work while the daemon runs, and while it does not. Run as root, they go on as the owner of the state directory.
Every command has
.B \\-\\-help
and
.BR \\-\\-config .
.SH COMMANDS
${commands
  .filter((listed) => !isGroup(listed))
  .map(commandText)
  .join("\n")}
.SH EXIT STATUS
${Object.entries(exitCodes).map(exitItem).join("\n")}
.SH ENVIRONMENT
.TP
.B DROPGATE_CONFIG
The configuration file, when \\fB\\-\\-config\\fR names none.
.SH FILES
.TP
.I /etc/dropgate/dropgate.yaml
The configuration, see
.BR dropgate.yaml (5).
.TP
.I /var/lib/dropgate
The state directory of the service.
.TP
.I /usr/share/doc/dropgate/docs
All documents; \\fIoperations.md\\fR is the runbook.
.SH SEE ALSO
.BR dropgate.yaml (5),
.BR sftp (1),
.BR systemctl (1)
`;
}

function factsOf(listed: ListedSetting): string {
  const standard = listed.isRequired ? "required" : "";
  const fallback = listed.setting.default === undefined ? standard : `default \`${shownValue(listed)}\``;
  return [typeOf(listed), limitsOf(listed), fallback].filter((fact) => fact !== "").join("; ");
}

/** A section inside of another one has no value, and says what it is. */
function settingItem(listed: ListedSetting): string {
  const facts = hasValue(listed) ? ` (${factsOf(listed)})` : "";
  // A path that is longer than a line is broken behind a dot, without a hyphen.
  const term = roffBold(listed.path).replaceAll(".", ".\\:");
  return roffItem(term, roffProse(`${descriptionWithRestart(listed.setting)}${facts}`));
}

function sectionText({ path, schema, setting }: ListedSetting): string {
  const items = settingsBelow(schema, path).filter((one) => !one.path.endsWith("[]"));
  const text = roffProse(setting.description ?? "");
  return [`.SS ${roffArgument(path)}`, text, ...items.map(settingItem)].join("\n");
}

/** dropgate.yaml(5) */
export function renderConfigPage(version: string, seconds: number): string {
  const topLevel = childrenOf(configSchema, "");
  return `${roffTitle("DROPGATE.YAML", 5, version, seconds)}
.SH NAME
dropgate.yaml \\- configuration of dropgate
.SH DESCRIPTION
One YAML file has all settings of
.BR dropgate (1).
Each has a default or may be left out, unless it is required. \\fBdropgate check\\fR names every fault with its line and
remedy; \\fBsystemctl reload dropgate\\fR takes changes over, but for those that need a restart.
Names in <angle brackets> are chosen by you, [] stands for each item of a list.
Secrets, sizes and paths are explained in \\fI/usr/share/doc/dropgate/docs/configuration.md\\fR.
.SH SETTINGS
${topLevel.filter(hasValue).map(settingItem).join("\n")}
${topLevel.filter(isSection).map(sectionText).join("\n")}
.SH FILES
.I /etc/dropgate/dropgate.yaml
.SH SEE ALSO
.BR dropgate (1)
`;
}
