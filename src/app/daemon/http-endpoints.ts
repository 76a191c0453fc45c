/** HTTP of the daemon: the interface, and the console beside it or on a port of its own. */
import { appointmentSettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { statePlaceOf } from "../../config/store-url.ts";
import { assetRoute } from "../../endpoints/http/console/assets/asset-route.ts";
import type { ConsoleServices } from "../../endpoints/http/console/console-services.ts";
import { createHttpEndpoint, type HttpEndpoint } from "../../endpoints/http/http-endpoint.ts";
import { routes } from "../../endpoints/http/routes.ts";
import type { HttpOptions } from "../../endpoints/http/server/http-options.ts";
import { callWith } from "../../endpoints/http/server/operation-context.ts";
import { RecentRequests } from "../../endpoints/http/server/recent-requests.ts";
import { RequestFigures } from "../../endpoints/http/server/request-figures.ts";
import { refusalDocument } from "../../inbound/submit-stop-document.ts";
import type { ImportThreads } from "../../operations/imports/import-threads.ts";
import { sealingKeyOf } from "../../store/database/meta.ts";
import { consoleOf, type ConsoleSurroundings, type RunningConsole } from "../console/create-console.ts";
import { QueryHost } from "../console/query-host.ts";
import type { Parts } from "./daemon-parts.ts";
import { createOperationContext } from "./operation-context.ts";
import { httpOptionsOf } from "./part-options.ts";
import { createMetrics, type MeasuredTraffic, noteCertificate } from "./read-figures.ts";

export interface HttpEndpoints {
  /** The port of the interface. */
  readonly port: number;
  /** The address and port of the console; undefined without one. */
  readonly console: { readonly host: string; readonly port: number } | undefined;
  /** Takes over what can change while running. Throws, changing nothing, when the certificate is unusable. */
  reconfigure(options: HttpOptions, config: Config): void;
}

interface StartedConsole extends RunningConsole {
  readonly queries: QueryHost;
}

async function startConsole(
  parts: Parts,
  surroundings: Omit<ConsoleSurroundings, "ask">,
): Promise<StartedConsole | undefined> {
  const { config, store, stack, signal } = parts;
  if (!config.console.enabled) return undefined;
  const numberKey = await sealingKeyOf(store);
  const queries = new QueryHost({ ...statePlaceOf(config), numberKey, config });
  await stack.start(queries, signal);
  const ask: ConsoleServices["ask"] = (name, scope, asked) => queries.ask(name, scope, asked);
  return { queries, ...consoleOf(parts, { ...surroundings, ask }) };
}

/** What the console has of its own, on a port of its own, and may change while running. */
function forConsoleAlone({ console: { proxyProtocolFrom } }: Config, options: HttpOptions): HttpOptions {
  return { ...options, proxyProtocolFrom };
}

/** The options of the server for the console alone; undefined when it shares that of the interface. */
function ownOptions(config: Config, options: HttpOptions): HttpOptions | undefined {
  const { console: own, http } = config;
  if (!own.enabled || own.port === undefined) return undefined;
  return { ...forConsoleAlone(config, options), host: own.host ?? http.host, port: own.port };
}

async function operationsOf(parts: Parts, readers: ImportThreads) {
  const { store, clock, documents, integrations } = parts;
  const context = createOperationContext({
    ...{ store, clock, documents, integrations, readers },
    numberKey: await sealingKeyOf(store),
    documentsDir: parts.locations.documentsDirectory,
    events: () => parts.config.events,
    appointments: (companyCode) => appointmentSettingsOf(parts.config, companyCode),
  });
  return callWith(context);
}

function listen(parts: Parts, endpoint: HttpEndpoint): void {
  parts.listening.push(() => ({
    ...{ endpoint: "http", certificateExpiresAt: parts.certificates.get("http") },
    ...{ connections: endpoint.figures.connections, bytes: endpoint.figures.bytes },
  }));
}

/** Requests, their bytes and sign-ins are counted together with those of the interface, and so is its certificate. */
function listenAlone(parts: Parts, endpoint: HttpEndpoint): void {
  parts.listening.push(() => ({ endpoint: "console", connections: endpoint.figures.connections }));
}

/** Starts them; their ends are on the stack. */
export async function startHttp(
  parts: Parts,
  traffic: Omit<MeasuredTraffic, "requests">,
  { folders, readers }: Pick<ConsoleSurroundings, "folders"> & { readonly readers: ImportThreads },
): Promise<HttpEndpoints> {
  const { log, signIn, stack, signal } = parts;
  const call = await operationsOf(parts, readers);
  const requests = new RecentRequests();
  const running = await startConsole(parts, { backups: traffic.backups, requests, folders });
  const options = await httpOptionsOf(parts.config);
  const forConsole = ownOptions(parts.config, options);
  noteCertificate(parts, "http", options.tls);
  const { routes: pages = [], area } = running?.served ?? {};
  const figures = new RequestFigures([...routes, ...pages]);
  const shared = {
    ...{ signIn, readers, refusalDocument, log, call, figures, requests },
    monitoring: {
      health: () => parts.health.current(),
      metrics: createMetrics(parts, { ...traffic, requests: () => figures.routes }),
    },
  };
  const withPages = (own: readonly (typeof routes)[number][]) =>
    area === undefined ? { routes: own } : { routes: [...own, ...pages], pages: area };
  const endpoint = createHttpEndpoint({
    ...{ ...shared, options },
    ...(forConsole === undefined ? withPages(routes) : { routes }),
  });
  await stack.start(endpoint, signal);
  parts.ports.set("http", endpoint.port);
  listen(parts, endpoint);
  const alone =
    forConsole &&
    createHttpEndpoint({ ...shared, name: "console", options: forConsole, ...withPages([assetRoute]) });
  if (alone !== undefined) {
    await stack.start(alone, signal);
    listenAlone(parts, alone);
  }
  return {
    port: endpoint.port,
    console: running && {
      host: forConsole?.host ?? options.host,
      port: alone?.port ?? endpoint.port,
    },
    reconfigure(next, config) {
      endpoint.reconfigure(next);
      alone?.reconfigure(forConsoleAlone(config, next));
      running?.queries.configure(config);
      // Operators may be others now.
      running?.live.endAll();
    },
  };
}
