/** The steps before the first load is played: whether the day is new to the gateway, and the imports. */
import type { DayPlan, PlannedImport } from "./day-plan.ts";
import { noteRefusal } from "./day-tally.ts";
import { type GatewayAnswer, UnreachableError } from "./gateway-client.ts";
import { askAsPlanned, type Play, rest } from "./play-requests.ts";

/** The day cannot be played at all; the message says what to do. */
export class DayNotPlayableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DayNotPlayableError";
  }
}

/** Numbers that fit into one address. */
const searchedAtOnce = 100;
/** From this status (under way) on a load cannot be imported again. */
const underWay = 40;
const completed = 90;

interface FoundLoad {
  readonly loadNbr: string;
  readonly status: string;
}

function descriptionsIn(body: string): string {
  try {
    const { Reasons = [] } = JSON.parse(body) as { readonly Reasons?: readonly { description: string }[] };
    return Reasons.map(({ description }) => description).join(" ");
  } catch {
    return body.slice(0, 200); // not an answer of the gateway: a proxy, or another program on this port
  }
}

function foundLoadsIn(body: string): readonly FoundLoad[] {
  try {
    return JSON.parse(body) as readonly FoundLoad[];
  } catch (error) {
    const what = `it answers a search for loads with ${JSON.stringify(body.slice(0, 60))}`;
    throw new DayNotPlayableError(`this is no gateway: ${what}. Correct the address.`, { cause: error });
  }
}

async function searchLoads(play: Play, numbers: readonly string[]): Promise<readonly FoundLoad[]> {
  const query = numbers.map((number) => `loadNbr=${encodeURIComponent(number)}`).join("&");
  const path = `/api/load/${play.companyCode}?${query}&limit=${searchedAtOnce}`;
  const request = { method: "GET", path, sender: undefined } as const;
  let answer: GatewayAnswer;
  try {
    // Without patience: whoever starts a day wants to know at once that nobody is there.
    answer = await play.client.send(request);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    throw new DayNotPlayableError(`${error.message}. Start the daemon, or name its address.`, {
      cause: error,
    });
  }
  if (answer.status === 200) return foundLoadsIn(answer.body);
  const why = descriptionsIn(answer.body);
  throw new DayNotPlayableError(`the gateway refuses the host's user with ${answer.status}: ${why}`);
}

/** Rejects with a `DayNotPlayableError` when the gateway cannot be used, or knows loads of the day as under way or done. */
export async function checkDayIsNew(play: Play, { loads, options }: DayPlan): Promise<void> {
  const numbers = loads.map(({ loadNbr }) => loadNbr);
  const found: FoundLoad[] = [];
  for (let at = 0; at < numbers.length && !play.signal.aborted; at += searchedAtOnce)
    found.push(...(await searchLoads(play, numbers.slice(at, at + searchedAtOnce))));
  const begun = found.filter(({ status }) => Number(status) >= underWay);
  if (begun.length === 0) return;
  const done = begun.filter(({ status }) => Number(status) >= completed).length;
  const what =
    done === loads.length
      ? `all ${done} loads of this day are done already`
      : `${done} of the ${loads.length} loads of this day are done already, and ${begun.length - done} under way`;
  throw new DayNotPlayableError(
    `${what} (seed ${options.seed}, ${options.date}, such as ${begun[0]?.loadNbr}). Give another seed, date or prefix.`,
  );
}

interface ImportInfo {
  readonly finishedDTTM: string | null;
  readonly loads: readonly { readonly loadNbr: string; readonly status: string }[];
}

const firstLookMs = 20;
const longestLookMs = 500;

/** Looks until the import is finished; undefined when the answer is not as planned or the play was ended. */
async function importOutcome(play: Play, importId: string): Promise<GatewayAnswer | undefined> {
  const path = `/v5/import/info/${importId}/${play.companyCode}`;
  const request = { method: "GET", path, sender: undefined } as const;
  let lookMs = firstLookMs;
  while (await rest(lookMs, play.signal)) {
    const answer = await askAsPlanned(play, { kind: "importInfo", request }, ({ status }) => status === 200);
    if (answer === undefined) return undefined;
    if ((JSON.parse(answer.body) as ImportInfo).finishedDTTM !== null) return answer;
    lookMs = Math.min(longestLookMs, lookMs * 2);
  }
  return undefined;
}

/** Sends one import and waits for its end; gives the numbers of the loads that were applied. */
async function importOnce(
  play: Play,
  { request: planned, loadNbrs }: PlannedImport,
): Promise<readonly string[]> {
  const path = `${planned.path}/${play.companyCode}`;
  const request = { method: "POST", path, body: planned.body, sender: planned.sender } as const;
  const answer = await askAsPlanned(play, { kind: "loadImport", request }, ({ status }) => status === 200);
  if (answer === undefined) return [];
  const { importId } = JSON.parse(answer.body) as { readonly importId: string };
  const info = await importOutcome(play, importId);
  if (info === undefined) return [];
  const { loads } = JSON.parse(info.body) as ImportInfo;
  const applied = loads.filter(({ status }) => status === "Success").map(({ loadNbr }) => loadNbr);
  // What is refused in the background comes with an answer 200, which names the loads: their long request says no more.
  const { body: _, ...shown } = request;
  if (applied.length < loadNbrs.length)
    noteRefusal(play.tally, "importInfo", { request: shown, answer: info });
  return applied;
}

/** Imports all loads; gives the numbers of those that were applied. An import that fails ends the play. */
export async function importLoads(play: Play, { imports }: DayPlan): Promise<ReadonlySet<string>> {
  const applied = new Set<string>();
  for (const planned of imports) {
    if (play.signal.aborted) break;
    const numbers = await importOnce(play, planned);
    for (const number of numbers) applied.add(number);
    if (numbers.length < planned.loadNbrs.length) play.giveUp();
  }
  return applied;
}
