/** Rows of the table of metrics: connections, sign-ins, transfers and requests. */
import { requestBounds } from "../../../endpoints/http/server/request-figures.ts";
import type { EndpointFigures, Figures } from "./figures.ts";
import { type Metric, one, type Sample, seconds } from "./metric.ts";

const gate = "src/sign-in/connection-gate.ts";
const requests = "src/endpoints/http/server/request-figures.ts";

function eachEndpoint(
  { endpoints }: Figures,
  samplesOf: (figures: EndpointFigures) => readonly (readonly [labels: readonly string[], value: number])[],
): readonly Sample<number>[] {
  return endpoints.flatMap((figures) =>
    samplesOf(figures).map(([labels, value]): Sample<number> => [[figures.endpoint, ...labels], value]),
  );
}

const connectionMetrics: readonly Metric[] = [
  {
    name: "dropgate_connections",
    type: "gauge",
    help: "Open connections; console: those of its own port, where console.port is set.",
    labels: ["endpoint"],
    countedIn: gate,
    atStart: "the connection that asks",
    samples: (figures) => eachEndpoint(figures, ({ connections }) => one(connections.open)),
  },
  {
    name: "dropgate_sessions",
    type: "gauge",
    help: "Open connections on which somebody has signed in.",
    labels: ["endpoint"],
    countedIn: gate,
    samples: (figures) => eachEndpoint(figures, ({ connections }) => one(connections.signedIn)),
  },
  {
    name: "dropgate_connections_refused_total",
    type: "counter",
    help: "Connections turned away since the start, or closed to make room for others (displaced), by reason.",
    labels: ["endpoint", "reason"],
    countedIn: gate,
    samples: (figures) =>
      eachEndpoint(figures, ({ connections }) =>
        Object.entries(connections.refused).map(([reason, count]) => [[reason], count] as const),
      ),
  },
  {
    name: "dropgate_sign_ins_total",
    type: "counter",
    help: "Sign-ins since the start, those of the console with http: accepted, refused for a wrong user, password or key, or turned away after too many.",
    labels: ["endpoint", "outcome"],
    countedIn: "src/sign-in/create-sign-in.ts",
    samples: (figures) =>
      eachEndpoint(figures, ({ endpoint }) =>
        endpoint === "console"
          ? []
          : Object.entries(figures.signIn.signIns[endpoint]).map(
              ([outcome, count]) => [[outcome], count] as const,
            ),
      ),
  },
  {
    name: "dropgate_bans_total",
    type: "counter",
    help: "Bans of addresses since the start.",
    labels: [],
    countedIn: "src/sign-in/failed-sign-ins.ts",
    samples: ({ signIn }) => one(signIn.bans.begun),
  },
  {
    name: "dropgate_addresses_banned",
    type: "gauge",
    help: "Addresses, or networks of them, that are banned at the moment.",
    labels: [],
    countedIn: "src/sign-in/failed-sign-ins.ts",
    samples: ({ signIn }) => one(signIn.bans.active),
  },
  {
    name: "dropgate_certificate_expiry_timestamp_seconds",
    type: "gauge",
    help: "When the certificate in use expires.",
    labels: ["endpoint"],
    countedIn: "src/app/daemon/tls-material.ts",
    atStart: "as the certificate says",
    samples: (figures) =>
      eachEndpoint(figures, ({ certificateExpiresAt: at }) => (at === undefined ? [] : one(seconds(at)))),
  },
];

const transferMetrics: readonly Metric[] = [
  {
    name: "dropgate_transferred_bytes_total",
    type: "counter",
    help: "Bytes of files, and of bodies over HTTP, since the start: received (in) and sent (out).",
    labels: ["endpoint", "direction"],
    countedIn: "src/exchange/transfer-figures.ts",
    samples: (figures) =>
      eachEndpoint(figures, ({ bytes }) =>
        bytes === undefined
          ? []
          : [
              [["in"], bytes.bytesIn],
              [["out"], bytes.bytesOut],
            ],
      ),
  },
  {
    name: "dropgate_uploads_total",
    type: "counter",
    help: "Uploads since the start: complete, or broken off before their close was answered well.",
    labels: ["endpoint", "outcome"],
    countedIn: "src/exchange/transfer-figures.ts",
    samples: (figures) =>
      eachEndpoint(figures, ({ uploads }) =>
        uploads === undefined
          ? []
          : [
              [["complete"], uploads.uploadsComplete],
              [["broken"], uploads.uploadsBroken],
            ],
      ),
  },
];

export const clientMetrics: readonly Metric[] = [
  ...connectionMetrics,
  ...transferMetrics,
  {
    name: "dropgate_http_requests_total",
    type: "counter",
    help: "Requests since the start, by the class of their status; gone: the client was not there any more.",
    labels: ["route", "method", "status"],
    countedIn: requests,
    samples: (figures) =>
      figures.requests.flatMap(({ route, method, byStatus }) =>
        [...byStatus].map(([status, count]): Sample<number> => [[route, method, status], count]),
      ),
  },
  {
    name: "dropgate_http_request_duration_seconds",
    type: "histogram",
    help: "From the head of a request to its answer; of a file, to the end of it.",
    labels: ["route"],
    buckets: requestBounds,
    countedIn: requests,
    samples: (figures) => figures.requests.map(({ route, durations }) => [[route], durations]),
  },
];
