/**
 * The commands of a document and the answers that it promises, run one after another against a real daemon.
 *
 * A `sh` block is run as it stands, but for the address and the folder of the demo, and the ids that the daemon gave out
 * (see `Matching`). Lines such as `H=…` hold for all blocks behind. The `json`, `xml` or `text` block behind it is its
 * answer.
 */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCatalogue } from "../../src/lib/errors.ts";
import type { Site } from "./daemon.ts";
import { type Block, projectFolder } from "./markdown.ts";
import { runProgram } from "./run-program.ts";
import { waitFor } from "./wait-for.ts";

export interface DocumentedCommand {
  readonly command: string;
  /** The block behind the command; undefined when none is promised. */
  readonly answer: Block | undefined;
}

const answerLanguages = ["json", "xml", "text"];

/** Each `sh` block with the block of an answer that comes before the next one. */
export function documentedCommands(blocks: readonly Block[]): readonly DocumentedCommand[] {
  return blocks.flatMap(({ language, text }, at) => {
    if (language !== "sh") return [];
    const next = blocks[at + 1];
    const isAnswer = next !== undefined && answerLanguages.includes(next.language);
    return [{ command: text, answer: isAnswer ? next : undefined }];
  });
}

/** Ids and times that a document shows and the answer has otherwise. */
export interface Matching {
  /** Ids of the document and what they were in this run: the same id is the same all through the document. */
  readonly ids: Map<string, string>;
  /** The first moment, in milliseconds, that a time of the service can have. */
  readonly startMs: number;
}

/** The service makes these up. */
const idFields = ["importId", "timeSlotId", "eventId"];
/** Numbers of the database, which depend on what was made before. */
const numberFields = ["companyId", "loadId"];
/** The service takes these from its clock, UTC. Where the document shows null they have to be null. */
const timeFields = ["receivedDTTM", "finishedDTTM", "cancelDTTM", "eventDTTM", "receiveDTTM"];

/** Days of slots follow the clock; their times of day are those of the configuration. */
const slotFields = ["startDateTime", "endDateTime"];

function isLaterDay(documented: string, found: unknown): boolean {
  const isSlotTime = typeof found === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(found);
  return isSlotTime && found.slice(10) === documented.slice(10) && Date.parse(`${found}Z`) > Date.now();
}

function isTimeOfRun(found: unknown, { startMs }: Matching): boolean {
  if (typeof found !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(found)) return false;
  const time = Date.parse(`${found}Z`);
  return time >= startMs - 1_000 && time <= Date.now();
}

function isSameId(documented: string, found: unknown, { ids }: Matching): boolean {
  if (typeof found !== "string" || found === "") return false;
  const known = ids.get(documented);
  if (known !== undefined) return known === found;
  if ([...ids.values()].includes(found)) return false;
  ids.set(documented, found);
  return true;
}

function isMatched(name: string, documented: unknown, found: unknown, matching: Matching): boolean {
  if (numberFields.includes(name)) return Number.isInteger(documented) && Number.isInteger(found);
  if (typeof documented !== "string") return false;
  if (idFields.includes(name)) return isSameId(documented, found, matching);
  if (slotFields.includes(name)) return isLaterDay(documented, found);
  return timeFields.includes(name) && isTimeOfRun(found, matching);
}

/**
 * The answer with what the document shows in the place of ids and times that match it: equal to `documented` when the
 * document is right, and showing what is wrong otherwise.
 */
export function asDocumented(found: unknown, documented: unknown, matching: Matching): unknown {
  if (Array.isArray(found)) {
    const items: readonly unknown[] = Array.isArray(documented) ? documented : [];
    return found.map((item, at) => asDocumented(item, items[at], matching));
  }
  if (typeof found !== "object" || found === null) return found;
  const other = (typeof documented === "object" && documented !== null ? documented : {}) as Fields;
  return Object.fromEntries(
    Object.entries(found).map(([name, value]) => {
      const wanted = other[name];
      return [
        name,
        isMatched(name, wanted, value, matching) ? wanted : asDocumented(value, wanted, matching),
      ];
    }),
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** The status that an answer has to have: that of its first reason, 200 without any. */
export function statusOfAnswer(json: unknown): number {
  const { Reasons } = (typeof json === "object" ? json : undefined) as { Reasons?: readonly Fields[] };
  const first = Reasons?.[0]?.["reasonCode"];
  if (first === undefined) return 200;
  const entry = Object.values(errorCatalogue).find(({ reasonCode }) => reasonCode === first);
  if (entry === undefined) throw new Error(`there is no reason ${JSON.stringify(first)}`);
  return entry.httpStatus;
}

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  /** Of each request that was made, in their order. */
  readonly statuses: readonly number[];
  readonly output: string;
}

export interface CommandRunner {
  readonly matching: Matching;
  /** Runs a block; while its answer says `InProgress`, again. */
  run(command: string): Promise<Ran>;
}

function isInProgress(text: string): boolean {
  return text.startsWith("{") && (JSON.parse(text) as Fields)["status"] === "InProgress";
}

/** Runs blocks against a site whose daemon is up. `demo.password` lies in the site's folder. */
export async function createCommandRunner(site: Site): Promise<CommandRunner> {
  const matching: Matching = { ids: new Map(), startMs: Date.now() };
  const variables: string[] = [];
  const statusFile = join(site.folder, "curl-status");
  // The settings of curl for the test: they leave what is shown as it is.
  const settings = ["silent", "show-error", "max-time = 30", 'write-out = "%{stderr}%{http_code}\\n"'];
  await writeFile(join(site.folder, ".curlrc"), `${settings.join("\n")}\n`);

  function scriptOf(command: string): string {
    let text = command.replaceAll("http://127.0.0.1:8080", site.http).replaceAll("var/", `${site.folder}/`);
    for (const [documented, found] of matching.ids) text = text.replaceAll(documented, found);
    const before = variables.join("\n");
    variables.push(...text.split("\n").filter((line) => /^[A-Z]+=/.test(line)));
    return `set -eu\n${before}\n{ ${text}\n} 2>'${statusFile}'`;
  }

  async function runOnce(script: string): Promise<Ran> {
    const options = { cwd: projectFolder, env: { ...process.env, CURL_HOME: site.folder } };
    const { exitCode, stdout, output } = await runProgram("sh", ["-c", script], options);
    const told = readFileSync(statusFile, "utf8");
    const statuses = told.split("\n").filter((line) => /^\d{3}$/.test(line));
    return { exitCode, stdout, statuses: statuses.map(Number), output: `${output}${told}` };
  }

  return {
    matching,
    async run(command) {
      const script = scriptOf(command);
      return await waitFor("the end of what is in progress", async () => {
        const ran = await runOnce(script);
        return isInProgress(ran.stdout) ? undefined : ran;
      });
    },
  };
}
