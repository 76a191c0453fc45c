/** Health and figures, without signing in (specification/operation.md#health). */
import { jsonAnswerOf, type PublicOperation, textAnswerOf } from "../openapi/api-description.ts";
import { Health } from "../openapi/api-service-schemas.ts";
import { type Answer, jsonType, textType } from "../server/answer.ts";
import { openRead } from "../server/route.ts";

const ready = { store: true, ledger: true, parser: true, http: true, sftp: true };

const alive: Answer = { status: 200, contentType: textType, body: "ok\n" };

const healthz: PublicOperation = {
  ...openRead,
  name: "healthz",
  summary: "Whether the process answers",
  path: "/healthz",
  api: {
    tag: "Service",
    description: "`ok` as long as the process answers.",
    answer: textAnswerOf("The process answers.", textType, "ok\n"),
    errors: [],
  },
  async run() {
    return alive;
  },
};

const readyz: PublicOperation = {
  ...openRead,
  name: "readyz",
  summary: "Whether work is taken, with each check",
  path: "/readyz",
  api: {
    tag: "Service",
    description: "Whether the last self-check was fine.",
    answer: jsonAnswerOf("Work is taken.", Health, { status: "ready", checks: ready }),
    otherAnswers: {
      503: jsonAnswerOf("Work is not taken at the moment.", Health, {
        status: "not ready",
        checks: { ...ready, store: false },
      }),
    },
    errors: [],
  },
  async run({ monitoring }, { isMonitor }) {
    const { isReady, checks, messages } = monitoring.health();
    const told = isMonitor() && messages.length > 0 ? { messages } : {};
    const body = JSON.stringify({ status: isReady ? "ready" : "not ready", checks, ...told });
    return { status: isReady ? 200 : 503, contentType: jsonType, body };
  },
};

const metrics: PublicOperation = {
  ...openRead,
  name: "metrics",
  summary: "Figures for monitoring",
  path: "/metrics",
  isForMonitoring: true,
  api: {
    tag: "Service",
    description: "Figures in the text form of Prometheus, for the addresses of `http.metricsFrom` only.",
    answer: textAnswerOf(
      "The figures.",
      "text/plain; version=0.0.4; charset=utf-8",
      "# TYPE dropgate_waiting_files gauge\n",
    ),
    errors: ["noSuchOperation"],
  },
  async run({ monitoring }) {
    return {
      status: 200,
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      body: monitoring.metrics(),
    };
  },
};

export const monitoringOperations: readonly PublicOperation[] = [healthz, readyz, metrics];
