import { Type } from "@sinclair/typebox";
import { balancers, connectionLimits, listenHost, listenPort, maxConnections } from "./listener-settings.ts";
import { addressRanges, choice, flag, integer, section, size, text } from "../reader/setting.ts";
import { tlsSection } from "./tls-section.ts";

const tls = tlsSection(
  "Serve HTTPS. Certificate and key are read again at a reload; switching TLS on or off needs a restart.",
);

const gateway = {
  maxLoads: integer("Loads in one import; more are refused with 909.", { default: 500, range: [1, 100_000] }),
  maxEntries: integer(
    "Stops, orders, customers, partners or users in one import; more are refused with 909.",
    { default: 5_000, range: [1, 1_000_000] },
  ),
  maxJsonDepth: integer("How deep objects and lists of a JSON body may be nested.", {
    default: 32,
    range: [8, 1_000],
  }),
  maxJsonValues: integer(
    "How many values (objects, lists, texts, numbers, true, false, null) a JSON body may have; one with more is answered with 909 before anything is built of it. Each needs memory.",
    { default: 500_000, range: [100, 100_000_000] },
  ),
  unknownFields: choice(
    "Fields of JSON bodies that the specification does not name: keep stores them and gives them back, refuse answers 902 for each.",
    ["keep", "refuse"],
    { default: "keep" },
  ),
};

const limits = {
  maxBodyBytes: size("The largest request body; a larger one is answered with 413.", {
    default: 20_000_000,
    range: [1_000, 1_000_000_000],
  }),
  maxBodyBytesInWork: size(
    "Bytes of all request bodies over 64 KiB that are processed at the same time; further ones wait unread, in order of arrival, and are answered with 503 and Retry-After when too many wait. Never less than http.maxBodyBytes. Memory needed is several times as much.",
    { default: 60_000_000, range: [1_000, 100_000_000_000] },
  ),
  maxConnections: maxConnections(
    1_000,
    "Open connections on which a request has signed in, and those of trusted proxies.",
  ),
  ...connectionLimits,
  maxRequestsInFlight: integer(
    "Requests that are processed at the same time; further ones are answered with 503 and Retry-After.",
    { default: 200, range: [1, 100_000] },
  ),
  headersTimeoutMs: integer(
    "How long a client may take to send the head of a request; at most http.requestTimeoutMs.",
    { default: 10_000, range: [100, 600_000] },
  ),
  requestTimeoutMs: integer("How long a client may take to send a whole request.", {
    default: 60_000,
    range: [100, 3_600_000],
  }),
  keepAliveTimeoutMs: integer(
    "How long an idle connection is kept for the next request; 0 closes it after each.",
    { default: 15_000, range: [0, 600_000] },
  ),
};

const access = {
  allowPlain: flag(
    "Take user and password over plain HTTP from other addresses than loopback. Only for a TLS proxy in front.",
  ),
  trustedProxies: addressRanges(
    "Proxies whose X-Forwarded-For, or Forwarded when there is no such header, names the client's address. Others' headers are not believed.",
    { default: [], example: ["10.0.0.5"] },
  ),
  proxyProtocolFrom: balancers("TCP connections of HTTP unchanged, with TLS or without"),
  metricsFrom: addressRanges(
    "Who may read /metrics, which asks for no sign-in. Nobody may through a proxy that is not one of http.trustedProxies.",
    { default: ["127.0.0.0/8", "::1/128"] },
  ),
  legacyStatus: choice(
    "HTTP status of a legacy XML answer that reports a failure (Status 99): ok is 200, because legacy clients throw the body of anything else away; mapped is the status of the reason.",
    ["ok", "mapped"],
    { default: "ok" },
  ),
};

export const httpSection = section("The HTTP server: REST gateway, legacy web service, health and metrics.", {
  host: listenHost,
  port: listenPort(8080, "Port to listen on; 0 takes any free one, which the log names."),
  basePath: text("What stands before every path, such as /rest.", {
    default: "",
    maxLength: 100,
    pattern: "^(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)*$",
    form: "empty, or a path such as /rest that starts with / and does not end with one",
    needsRestart: true,
  }),
  tls: Type.Optional(tls),
  ...access,
  ...gateway,
  ...limits,
});
