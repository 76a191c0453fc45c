/**
 * The pages for the administrator of a server, followed as they stand: each command is run, each piece of configuration
 * is put into the file, and what a page shows as output has to come out.
 *
 * A `sh` block holds commands, the `text` or `xml` block behind it their output, a `yaml` block settings. A line `…` stands
 * for any lines. What differs in each run (times, keys, ids, sums, sizes) may be shown as anything of its form.
 */
import { type Block, blocksIn, spansIn } from "./markdown.ts";
import type { ProgramResult } from "./run-program.ts";
import { waitFor } from "./wait-for.ts";

/** In the order in which a server meets them. */
export const serverPages = [
  "docs/first-ten-minutes.md",
  "docs/monitoring.md",
  "docs/backup.md",
  "docs/retention.md",
  "docs/restore-drill.md",
  "docs/upgrade.md",
  "docs/console.md",
] as const;

/** A machine on which a page is followed. */
export interface Server {
  /** Runs a command as root; undefined when it cannot be run on such a machine. */
  run(command: string): Promise<ProgramResult | undefined>;
  /** Puts settings into /etc/dropgate/dropgate.yaml, beside those that stand there. */
  configure(settings: string): Promise<void>;
}

/** The commands of a `sh` block: its lines, and here-documents with the line that they belong to. */
export function commandsOf(block: string): string[] {
  const commands: string[] = [];
  let end: string | undefined;
  for (const line of block.trimEnd().split("\n")) {
    if (end === undefined) commands.push(line);
    else commands.push(`${commands.pop()}\n${line}`);
    if (line === end) end = undefined;
    else end ??= /<<'(\w+)'/.exec(line)?.[1];
  }
  return commands;
}

const differing: readonly (readonly [form: RegExp, name: string])[] = [
  [/\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{8}/g, "BACKUP"],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME"],
  [/@\[[\d.]+\]/g, "@[TIME]"],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "ID"],
  [/SHA256:[\w+/]{43}/g, "FINGERPRINT"],
  [/(?<=Password: +|, password )\S+/g, "PASSWORD"],
  [/\b[0-9a-f]{12,64}\b/g, "SUM"],
  [/\b\d+(?:\.\d+)? (?:B|KB|MB|GB)\b/g, "SIZE"],
];

function withoutDiffering(text: string): string {
  return differing.reduce((result, [form, name]) => result.replaceAll(form, name), text.trimEnd());
}

function fits(shown: readonly string[], found: readonly string[]): boolean {
  const [first, ...others] = shown;
  if (first === undefined) return found.length === 0;
  if (first === "…") return [...found.keys(), found.length].some((at) => fits(others, found.slice(at)));
  return first === found[0] && fits(others, found.slice(1));
}

/** Whether the output is what the page shows. */
export function isAsShown({ shown, output }: Shown): boolean {
  const linesOf = (text: string) => withoutDiffering(text).split("\n");
  return fits(linesOf(shown), linesOf(output));
}

export interface Followed {
  readonly command: string;
  /** Undefined when the server cannot run it. */
  readonly result: ProgramResult | undefined;
}

export interface Shown {
  readonly shown: string;
  readonly output: string;
}

export interface PageWitness {
  followed(step: Followed): void;
  /** Of a block whose commands were all run. */
  showed(outcome: Shown): void;
}

/** What is there a moment later, as the page says: a receipt, and what Prometheus has scraped. */
const comesLater = /:\/receipts\/|^promtool query/;
/** A backup of the schedule that a page before has set. */
const saysToWait = /is being made at this moment: wait until it is done/;

async function runOn(server: Server, command: string): Promise<ProgramResult | undefined> {
  const isLater = comesLater.test(command);
  let last: ProgramResult | undefined;
  await waitFor(command, async () => {
    last = await server.run(command);
    if (last === undefined) return true;
    return !saysToWait.test(last.output) && (!isLater || (last.exitCode === 0 && last.output.trim() !== ""));
  });
  return last;
}

const outputLanguages: readonly string[] = ["text", "xml"];

async function followBlock(server: Server, text: string, shown: Block | undefined, witness: PageWitness) {
  let output = "";
  let isWhole = true;
  for (const command of commandsOf(text)) {
    const result = await runOn(server, command);
    witness.followed({ command, result });
    output += result?.output ?? "";
    isWhole &&= result !== undefined;
  }
  const isOutput = shown !== undefined && outputLanguages.includes(shown.language);
  if (isOutput && isWhole) witness.showed({ shown: shown.text, output });
}

/** Follows a page from its beginning to its end. */
export async function followPage(page: string, server: Server, witness: PageWitness): Promise<void> {
  const blocks = blocksIn(page);
  for (const [at, { language, text }] of blocks.entries()) {
    if (language === "yaml") await server.configure(text);
    if (language === "sh") await followBlock(server, text, blocks[at + 1], witness);
  }
}

/** Commands that a page names in its text and not in a block. */
export function commandsNamedIn(page: string): string[] {
  return spansIn(page).filter((span) =>
    /^(?:dropgate|apt|apt-get|systemctl|journalctl|dpkg|promtool|sh|git|npm|touch) \S/.test(span),
  );
}
