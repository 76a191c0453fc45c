/** What was refused, as it is told live: one by one, and as one line where a day has many of a kind. */
import type { LimitedLog } from "../../../../lib/logs/limited-log.ts";
import type { LiveEvents } from "./live-events.ts";
import {
  type LiveSource,
  type Refusal,
  type RefusalGroup,
  refusalKeyOf,
  refusalKeyText,
} from "./standing.ts";

/** An event, as whoever may act for the company is told of it, or anybody else. */
export interface RefusalText {
  readonly companyId: number;
  readonly text: (mayAct: boolean) => string;
}

export interface RefusalTextsDeps {
  readonly source: Pick<LiveSource, "refusalGroups">;
  readonly events: Pick<LiveEvents, "refusal" | "refusalGroup">;
  readonly failing: Pick<LimitedLog, "warn">;
}

/** None while the store cannot be asked: then each is told by itself. */
async function groupsOf(
  news: readonly Refusal[],
  { source, failing }: RefusalTextsDeps,
): Promise<ReadonlyMap<string, RefusalGroup>> {
  const keys = new Map(news.map(refusalKeyOf).map((key) => [refusalKeyText(key), key]));
  if (keys.size === 0) return new Map();
  try {
    const groups = await source.refusalGroups([...keys.values()]);
    return new Map(groups.map((group) => [refusalKeyText(group), group]));
  } catch (error) {
    failing.warn({ err: error }, "live pages cannot be told how many files are refused; retrying");
    return new Map();
  }
}

/** In the order of the refusals; a group comes with its last one. */
export async function refusalTexts(
  news: readonly Refusal[],
  deps: RefusalTextsDeps,
): Promise<readonly RefusalText[]> {
  const groups = await groupsOf(news, deps);
  const keyOf = (refusal: Refusal) => refusalKeyText(refusalKeyOf(refusal));
  const last = new Map(news.map((refusal) => [keyOf(refusal), refusal]));
  return news.flatMap((refusal) => {
    const { companyId } = refusal;
    const group = groups.get(keyOf(refusal));
    if (group === undefined) {
      const text = deps.events.refusal(refusal);
      return { companyId, text: () => text };
    }
    if (last.get(keyOf(refusal)) !== refusal) return [];
    const textFor = (mayAct: boolean) => deps.events.refusalGroup(group, { last: refusal, mayAct });
    const [acting, looking] = [textFor(true), textFor(false)];
    return { companyId, text: (mayAct: boolean) => (mayAct ? acting : looking) };
  });
}
