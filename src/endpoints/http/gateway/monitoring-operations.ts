/** Health and figures, without signing in (specification/operation.md#health). */
import { jsonAnswerOf, type PublicOperation, textAnswerOf } from "../openapi/api-description.ts";
import { Health } from "../openapi/api-service-schemas.ts";
import { type Answer, jsonType, textType } from "../server/answer.ts";
import { openRead } from "../server/route.ts";

const ready = { store: true, ledger: true, parser: true, http: true, sftp: true };

const alive: Answer = { status: 200, contentType: textType, body: "ok\n" };

const figuresType = "text/plain; version=0.0.4; charset=utf-8";

export const monitoringOperations: readonly PublicOperation[] = [
  {
    ...openRead,
    name: "healthz",
    summary: "Whether the process answers",
    path: "/healthz",
    tag: "Service",
    description: "`ok` as long as the process answers.",
    answer: textAnswerOf("The process answers.", textType, "ok\n"),
    errors: [],
    run: async () => alive,
  },
  {
    ...openRead,
    name: "readyz",
    summary: "Whether work is taken, with each check",
    path: "/readyz",
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
    async run({ monitoring }, { isMonitor }) {
      const { isReady, checks, messages } = monitoring.health();
      const more = isMonitor() && messages.length > 0 ? { messages } : {};
      const body = JSON.stringify({ status: isReady ? "ready" : "not ready", checks, ...more });
      return { status: isReady ? 200 : 503, contentType: jsonType, body };
    },
  },
  {
    ...openRead,
    name: "metrics",
    summary: "Figures for monitoring",
    path: "/metrics",
    isForMonitoring: true,
    tag: "Service",
    description: "Figures in the text form of Prometheus, for the addresses of `http.metricsFrom` only.",
    answer: textAnswerOf("The figures.", figuresType, "# TYPE dropgate_files_waiting gauge\n"),
    errors: ["noSuchOperation"],
    run: async ({ monitoring }) => ({
      status: 200,
      contentType: figuresType,
      body: await monitoring.metrics(),
    }),
  },
];
