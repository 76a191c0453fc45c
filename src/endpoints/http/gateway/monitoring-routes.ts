/** Health and figures, without signing in (specification/operation.md#health). */
import { type Answer, jsonType, textType } from "../server/answer.ts";
import type { PublicRoute, Route } from "../server/route.ts";
import { openRead } from "./route-helpers.ts";

const alive: Answer = { status: 200, contentType: textType, body: "ok\n" };

const healthz: PublicRoute = {
  ...openRead,
  name: "healthz",
  summary: "Whether the process answers",
  path: "/healthz",
  async run() {
    return alive;
  },
};

const readyz: PublicRoute = {
  ...openRead,
  name: "readyz",
  summary: "Whether work is taken, with each check",
  path: "/readyz",
  async run({ monitoring }, { isMonitor }) {
    const { isReady, checks, messages } = await monitoring.health();
    const told = isMonitor() && messages.length > 0 ? { messages } : {};
    const body = JSON.stringify({ status: isReady ? "ready" : "not ready", checks, ...told });
    return { status: isReady ? 200 : 503, contentType: jsonType, body };
  },
};

const metrics: PublicRoute = {
  ...openRead,
  name: "metrics",
  summary: "Figures for monitoring",
  path: "/metrics",
  isForMonitoring: true,
  async run({ monitoring }) {
    return {
      status: 200,
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      body: monitoring.metrics(),
    };
  },
};

export const monitoringRoutes: readonly Route[] = [healthz, readyz, metrics];
