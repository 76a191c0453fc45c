/** The table of routes: every operation over HTTP, once. */
import type { Role } from "../../domain/role.ts";
import { DropgateError, type Fault } from "../../lib/errors.ts";
import { type Answer, jsonAnswer, jsonType, successAnswer, textType, xmlType } from "./answer.ts";
import { httpStatusOf } from "./http-status.ts";
import type { CompanyRoute, OperationRequest, PublicRoute, Route } from "./route.ts";

const integration: readonly Role[] = ["DI_Integration"];

function param(request: OperationRequest, name: string): string {
  const value = request.params[name];
  if (value === undefined) throw new Error(`the path of the route has no {${name}}`);
  return value;
}

function refusedBy(faults: readonly Fault[]): DropgateError {
  const [first] = faults;
  if (first === undefined) throw new Error("an operation refused a request without naming a fault");
  return new DropgateError(first.code, first.message, { faults });
}

const getStopDetail: CompanyRoute = {
  name: "getStopDetail",
  summary: "Get stop detail",
  method: "GET",
  path: "/stop/info/{stopNbr}/{companyCode}",
  version: "v5",
  access: integration,
  errors: "reasons",
  query: "none",
  body: "none",
  media: [],
  async run({ operations }, request) {
    const { companyId } = request;
    return jsonAnswer(await operations.readStopDetail({ companyId, stopNbr: param(request, "stopNbr") }));
  },
};

const updateBusinessPartners: CompanyRoute = {
  name: "updateBusinessPartners",
  summary: "Create or update business partners",
  method: "POST",
  path: "/businesspartner/update/{companyCode}",
  version: "v5",
  access: integration,
  errors: "reasons",
  query: "none",
  body: "json",
  media: [jsonType],
  async run({ operations, options }, { companyId, companyCode, json }) {
    const rules = options();
    const outcome = await operations.importBusinessPartners({ companyId, companyCode, body: json, rules });
    if (outcome.kind === "refused") throw refusedBy(outcome.faults);
    return successAnswer;
  },
};

const submitLegacyStop: CompanyRoute = {
  name: "submitLegacyStop",
  summary: "Legacy XML stop web service",
  method: "POST",
  path: "/api/stop/{companyCode}",
  version: "none",
  isAnyCase: true,
  access: integration,
  errors: "stopResponse",
  query: "ignored",
  body: "xml",
  media: [xmlType, "text/xml"],
  async run({ operations, options }, { companyId, companyCode, bytes, userName, requestId }) {
    const outcome = await operations.submitStopDocument({
      companyId,
      companyCode,
      bytes,
      userName,
      requestId,
    });
    const { status, xml, mappedCode } = outcome;
    const isMapped = status === 99 && mappedCode !== undefined && options().legacyStatus === "mapped";
    return { status: isMapped ? httpStatusOf[mappedCode] : 200, contentType: xmlType, body: xml };
  },
};

const findLegacyStops: CompanyRoute = {
  name: "findLegacyStops",
  summary: "Legacy JSON retrieval of stops",
  method: "GET",
  path: "/api/stop/{companyCode}",
  version: "none",
  isAnyCase: true,
  access: integration,
  errors: "reasons",
  query: "own",
  body: "none",
  media: [],
  async run({ operations }, request) {
    const { companyId, query } = request;
    const { json, total } = await operations.findLegacyStops(
      { companyId, parameters: query },
      request.signal(),
    );
    return jsonAnswer(json, { "x-total-count": String(total) });
  },
};

const probe = {
  method: "GET",
  version: "none",
  access: "public",
  errors: "text",
  query: "ignored",
  body: "none",
  media: [],
} as const;

const alive: Answer = { status: 200, contentType: textType, body: "ok\n" };

const healthz: PublicRoute = {
  ...probe,
  name: "healthz",
  summary: "Whether the process answers",
  path: "/healthz",
  async run() {
    return alive;
  },
};

const readyz: PublicRoute = {
  ...probe,
  name: "readyz",
  summary: "Whether work is taken, with each check",
  path: "/readyz",
  async run({ operations }) {
    const { isReady, checks } = await operations.health();
    const body = JSON.stringify({ status: isReady ? "ready" : "not ready", checks });
    return { status: isReady ? 200 : 503, contentType: jsonType, body };
  },
};

const metrics: PublicRoute = {
  ...probe,
  name: "metrics",
  summary: "Figures for monitoring",
  path: "/metrics",
  isForMonitoring: true,
  async run({ operations }) {
    return {
      status: 200,
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      body: operations.metrics(),
    };
  },
};

/** Every route. */
export const routes: readonly Route[] = [
  getStopDetail,
  updateBusinessPartners,
  submitLegacyStop,
  findLegacyStops,
  healthz,
  readyz,
  metrics,
];
