import { expect, test } from "vitest";
import type { ConsoleServices } from "../../console-services.ts";
import { consoleRequest } from "../../testing/viewer.ts";
import { healthRoutes, showHealth } from "./health-page.ts";
import type { HealthFacts } from "./health-view.ts";

const idle = { running: undefined, last: undefined, failure: undefined };

function servicesWith(verification: HealthFacts["verification"]): ConsoleServices {
  const facts: HealthFacts = {
    ...{ version: "1.0.0", startedAt: 0, residentBytes: 1, isReady: true, selfChecks: {}, messages: [] },
    threads: { parsers: 1, waitingFiles: 0, unfiledFiles: 0, lateMs: undefined },
    store: { fileBytes: 1, walBytes: 1, commits: 1, damage: undefined },
    ...{ disk: undefined, certificates: [], configuration: { readAt: 0, isLastGood: true } },
    backup: { isScheduled: true, lastAt: undefined, failure: undefined, runningSince: undefined },
    ...{ check: idle, growth: idle, verification, lastVerified: undefined, troubles: [] },
  };
  const health = { facts: async () => facts, beginCheck: () => undefined };
  return { basePath: () => "", health } as Partial<ConsoleServices> as ConsoleServices;
}

async function pageWith(verification: HealthFacts["verification"]): Promise<string> {
  return String((await showHealth(servicesWith(verification), consoleRequest())).body);
}

test("while something runs the page is read again by itself, in the background alone", async () => {
  expect(await pageWith(idle)).not.toContain("hx-get");
  const running = await pageWith({ ...idle, running: { since: 0, progress: undefined } });
  const [, asked] = /hx-get="([^"]+)"/.exec(running) ?? [];
  const route = healthRoutes.find(({ path }) => path === asked);
  expect(route).toMatchObject({ method: "GET", who: "operator", isBackground: true });
});
