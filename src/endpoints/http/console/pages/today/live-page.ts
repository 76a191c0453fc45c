/** The events of page 1, and page 1 as it is read again and again where events do not come through. */
import { type Answer, eventStreamType, textType } from "../../../server/answer.ts";
import { retryAfter } from "../../../server/http-refusal.ts";
import { secondMs } from "../../../../../lib/durations.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { companiesFor } from "../../console-user.ts";
import { words } from "../../words/words.ts";
import { showToday } from "./today-page.ts";

/** When somebody else may have gone. */
const retryMs = 30 * secondMs;

const full: Answer = {
  ...{ status: 503, headers: retryAfter(retryMs), contentType: textType },
  body: `${words.today.live.full}\n`,
};

async function sendEvents({ live }: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { user, query, lastEventId } = request;
  const idsFor = (who: "look" | "act") => new Set(companiesFor(user, who).map(({ id }) => id));
  const [companyIds, actIds] = [idsFor("look"), idsFor("act")];
  // What the browser has heard of is newer than what its page has shown.
  const after = lastEventId ?? query.get("after") ?? undefined;
  const { isOperator } = user;
  return {
    status: 200,
    contentType: eventStreamType,
    // Proxies must not gather events before they pass them on.
    headers: { "x-accel-buffering": "no" },
    body: {
      turnAway: () => (live.hasRoom ? undefined : full),
      subscribe: (stream) => live.join({ companyIds, actIds, isOperator, after, ...stream }),
    },
  };
}

/** In the background: neither keeps a session alive that nobody uses. */
const background = { access: "console", method: "GET", who: "look", isBackground: true } as const;

export const liveRoutes: readonly ConsoleRoute[] = [
  { ...background, name: "consoleLive", path: "/console/live", run: sendEvents },
  { ...background, name: "consoleTodayAgain", path: "/console/live/page", run: showToday },
];
