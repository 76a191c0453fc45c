/** The legacy web services: XML stops, JSON retrieval, documents (specification/gateway.md#operations). */
import { jsonAnswer, xmlType } from "../server/answer.ts";
import { attachment } from "../server/content-disposition.ts";
import { httpStatusOf } from "../server/http-status.ts";
import type { CompanyRoute, Route } from "../server/route.ts";
import { gatewayRead, integration, param } from "../gateway/route-helpers.ts";

const legacyRead = { ...gatewayRead, version: "none", isAnyCase: true } as const;

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
  async run({ operations, options }, { companyId, companyCode, bytes, charset, userName, requestId }) {
    const outcome = await operations.submitStopDocument({
      companyId,
      companyCode,
      bytes,
      charset,
      userName,
      requestId,
    });
    const { status, xml, mappedCode } = outcome;
    const isMapped = status === 99 && mappedCode !== undefined && options().legacyStatus === "mapped";
    return { status: isMapped ? httpStatusOf[mappedCode] : 200, contentType: xmlType, body: xml };
  },
};

function findRoute(
  route: Pick<CompanyRoute, "name" | "summary" | "path">,
  operation: "findLegacyStops" | "findLegacyLoads",
): CompanyRoute {
  return {
    ...legacyRead,
    ...route,
    query: "own",
    async run({ operations }, request) {
      const { companyId, companyCode, query } = request;
      const { json, total } = await operations[operation](
        { companyId, companyCode, parameters: query },
        request.signal(),
      );
      return jsonAnswer(json, { "x-total-count": String(total) });
    },
  };
}

const findLegacyStops = findRoute(
  { name: "findLegacyStops", summary: "Legacy JSON retrieval of stops", path: "/api/stop/{companyCode}" },
  "findLegacyStops",
);

const findLegacyLoads = findRoute(
  { name: "findLegacyLoads", summary: "Legacy JSON retrieval of loads", path: "/api/load/{companyCode}" },
  "findLegacyLoads",
);

const getLegacyDocument: CompanyRoute = {
  ...legacyRead,
  name: "getLegacyDocument",
  summary: "Get document",
  path: "/api/document/{guid}/{companyCode}",
  async run({ operations }, request) {
    const { companyId } = request;
    const found = await operations.findLegacyDocument({ companyId, guid: param(request, "guid") });
    const { path, size, sha256, name, guid } = found;
    return {
      status: 200,
      contentType: "application/octet-stream",
      headers: {
        "content-disposition": attachment(name, guid),
        // Kept by the client, not by proxies, and asked for again: the right to it may have gone.
        "cache-control": "private, no-cache",
      },
      body: { path, size, etag: `"${sha256}"` },
    };
  },
};

export const legacyRoutes: readonly Route[] = [
  submitLegacyStop,
  findLegacyStops,
  findLegacyLoads,
  getLegacyDocument,
];
