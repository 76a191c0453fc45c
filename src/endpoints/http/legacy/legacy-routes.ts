/** The legacy web services: XML stops, JSON retrieval, documents (specification/gateway.md#operations). */
import { submitStopDocument } from "../../../inbound/submit-stop-document.ts";
import { findLegacyDocument } from "../../../operations/legacy/legacy-document.ts";
import { findLegacyLoads } from "../../../operations/legacy/legacy-loads.ts";
import { findLegacyStops } from "../../../operations/legacy/legacy-stops.ts";
import { jsonAnswer, xmlType } from "../server/answer.ts";
import { attachment } from "../server/content-disposition.ts";
import { httpStatusOf } from "../server/http-status.ts";
import type { CompanyRoute } from "../server/route.ts";
import { gatewayRead, integration, param } from "../gateway/route-helpers.ts";

const legacyRead = { ...gatewayRead, version: "none", isAnyCase: true } as const;

/** One page of a retrieval. */
function finds(find: typeof findLegacyStops): CompanyRoute["run"] {
  return async ({ call }, request) => {
    const { companyId, companyCode, query } = request;
    const { json, total } = await call(find, { companyId, companyCode, parameters: query }, request.signal());
    return jsonAnswer(json, { "x-total-count": String(total) });
  };
}

export const legacyRoutes: readonly CompanyRoute[] = [
  {
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
    run: async ({ call, options }, { companyId, companyCode, bytes, charset, userName, requestId }) => {
      const submission = { companyId, companyCode, bytes, charset, userName, requestId };
      const { status, xml, mappedCode } = await call(submitStopDocument, submission);
      const isMapped = status === 99 && mappedCode !== undefined && options().legacyStatus === "mapped";
      return { status: isMapped ? httpStatusOf[mappedCode] : 200, contentType: xmlType, body: xml };
    },
  },
  {
    ...legacyRead,
    name: "findLegacyStops",
    summary: "Legacy JSON retrieval of stops",
    path: "/api/stop/{companyCode}",
    query: "own",
    run: finds(findLegacyStops),
  },
  {
    ...legacyRead,
    name: "findLegacyLoads",
    summary: "Legacy JSON retrieval of loads",
    path: "/api/load/{companyCode}",
    query: "own",
    run: finds(findLegacyLoads),
  },
  {
    ...legacyRead,
    name: "getLegacyDocument",
    summary: "Get document",
    path: "/api/document/{guid}/{companyCode}",
    run: async ({ call }, request) => {
      const { companyId } = request;
      const found = await call(findLegacyDocument, { companyId, guid: param(request, "guid") });
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
  },
];
