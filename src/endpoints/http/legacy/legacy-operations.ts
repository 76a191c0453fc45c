/** The legacy web services: XML stops, JSON retrieval, documents (specification/gateway.md#operations). */
import { Type } from "@sinclair/typebox";
import { submitStopDocument } from "../../../inbound/submit-stop-document.ts";
import { errorCatalogue, httpStatusOf } from "../../../lib/errors.ts";
import { findLegacyDocument } from "../../../operations/legacy/legacy-document.ts";
import { defaultLimit, maxLimit } from "../../../operations/legacy/legacy-filter.ts";
import { findLegacyLoads } from "../../../operations/legacy/legacy-loads.ts";
import { findLegacyStops } from "../../../operations/legacy/legacy-stops.ts";
import { gatewayRead, integration, param } from "../gateway/operation-parts.ts";
import {
  type ApiQueryParameter,
  type CompanyOperation,
  jsonAnswerOf,
  textFilter,
} from "../openapi/api-description.ts";
import { LegacyLoad, LegacyStop, StopResponse } from "../openapi/api-service-schemas.ts";
import { jsonAnswer, xmlType } from "../server/answer.ts";
import { attachment } from "../server/content-disposition.ts";
import type { CompanyRoute } from "../server/route.ts";
import { sampleStop } from "../server/sample-stop.ts";

const stopDocument = sampleStop({
  ...{ stopNbr: "1001", day: "2026-11-06" },
  more: "  <SealNbr>SEAL-1</SealNbr>\n",
});

const stopResponse = `<?xml version="1.0" encoding="UTF-8"?>
<StopResponse>
  <DocumentID>UNKNOWN</DocumentID>
  <Status>10</Status>
  <Result>
    <RecordsCreated>1</RecordsCreated>
    <RecordsUpdated>0</RecordsUpdated>
    <RecordsDeleted>0</RecordsDeleted>
  </Result>
</StopResponse>
`;

const processedFaults = [
  "companyDiffers",
  "stopInTransit",
  "finalState",
  "tooLarge",
  "stopNotFound",
  "partnerNotFound",
  "badDate",
  "notWellFormed",
  "xsdMismatch",
  "forbiddenXml",
  "tooLong",
] as const;

const faultList = processedFaults
  .map((code) => `\`${errorCatalogue[code].reasonCode}\` ${errorCatalogue[code].meaning}`)
  .join("; ");

const paging: readonly ApiQueryParameter[] = [
  {
    name: "limit",
    description: "How many results at most.",
    schema: Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit }),
  },
  {
    name: "offset",
    description: "How many results to leave out first.",
    schema: Type.Integer({ minimum: 0, default: 0 }),
  },
];

const filterRule =
  "A filter is the name of a field of the result, at any depth, in any case; those listed here are the usual ones. Several " +
  "must all match; one that is repeated matches any of its values. What matches nothing gives an empty list.";

const total = { "X-Total-Count": "How many results match in all." };

const legacyRead = { ...gatewayRead, version: "none", isAnyCase: true } as const;

function finds(find: typeof findLegacyStops): CompanyRoute["run"] {
  return async ({ call }, request) => {
    const { companyId, companyCode, query } = request;
    const { json, total } = await call(find, { companyId, companyCode, parameters: query }, request.signal());
    return jsonAnswer(json, { "x-total-count": String(total) });
  };
}

export const legacyOperations: readonly CompanyOperation[] = [
  {
    name: "submitLegacyStop",
    summary: "Legacy XML stop web service",
    method: "POST",
    path: "/api/stop/{companyCode}",
    version: "none",
    isAnyCase: true,
    access: integration,
    errorShape: "stopResponse",
    query: "ignored",
    body: "xml",
    media: [xmlType, "text/xml"],
    tag: "Legacy",
    description:
      "A stop document of `xsd/stop.xsd`, applied before it is answered. `Function` says what is done: `01` create or update, " +
      "`02` delete, `03` create or update and assign or unassign the carrier. A `Stops` document is all or nothing.",
    request: {
      schema: Type.String({ description: "A document that obeys `xsd/stop.xsd`." }),
      example: stopDocument,
    },
    answer: {
      description:
        "The document was processed: `Status` says with what success. With 99, `ErrorMsgID` is one of: " +
        `${faultList}. With \`http.legacyStatus: mapped\` a 99 has the HTTP status of its first reason instead.`,
      contentType: xmlType,
      schema: StopResponse,
      example: stopResponse,
    },
    errors: [],
    run: async ({ call, options }, { companyId, companyCode, bytes, charset, userName, requestId }) => {
      const submission = { companyId, companyCode, bytes, charset, userName, requestId };
      const { status, xml, mappedCode } = await call(submitStopDocument, submission);
      const isMapped = status === 99 && mappedCode !== undefined && options().legacyStatus === "mapped";
      return { status: isMapped ? httpStatusOf(mappedCode) : 200, contentType: xmlType, body: xml };
    },
  },
  {
    ...legacyRead,
    name: "findLegacyStops",
    summary: "Legacy JSON retrieval of stops",
    path: "/api/stop/{companyCode}",
    query: "own",
    tag: "Legacy",
    description: `Stops as a JSON list. ${filterRule} \`stop\` may stand before a name. Cancelled stops are left out unless \`status\` asks for them.`,
    parameters: [
      textFilter("stopNbr", "Number of the stop.", "1001"),
      textFilter("status", "State of the stop; `99` are the cancelled ones."),
      textFilter("sealNbr", "Seal number."),
      textFilter("shipmentNbr", "Shipment number."),
      textFilter("loadNbr", "Number of the load that it is on."),
      ...paging,
    ],
    answer: {
      ...jsonAnswerOf("The stops that match.", Type.Array(LegacyStop), [
        {
          stopNbr: "1001",
          status: "10",
          shipToName: "Corner Shop",
          shipToAddr1: "12 Main Street",
          earliestStartDttm: "Nov 6, 2026 8:00:00 AM",
          latestStartDttm: "Nov 6, 2026 12:00:00 PM",
          sealNbr: "SEAL-1",
          documents: [],
          stopDetails: [],
        },
      ]),
      headers: total,
    },
    after: ["submitLegacyStop"],
    errors: ["unknownFilter", "tooLarge"],
    run: finds(findLegacyStops),
  },
  {
    ...legacyRead,
    name: "findLegacyLoads",
    summary: "Legacy JSON retrieval of loads",
    path: "/api/load/{companyCode}",
    query: "own",
    tag: "Legacy",
    description: `Loads as a JSON list. ${filterRule} \`load\` may stand before a name.`,
    parameters: [
      textFilter("loadNbr", "Number of the load.", "L-1001"),
      textFilter("status", "State of the load."),
      textFilter("reference", "Reference."),
      ...paging,
    ],
    answer: {
      ...jsonAnswerOf("The loads that match.", Type.Array(LegacyLoad), [
        {
          loadId: 482_160_937,
          loadNbr: "L-1001",
          status: "10",
          originName: "Depot South",
          totalStops: 2,
          weight: { value: 420 },
          companyId: { companyId: 730_118_426, companyName: "DEMO" },
          earliestStartDttm: "Nov 6, 2026 6:00:00 AM",
          latestStartDttm: "Nov 6, 2026 7:00:00 AM",
        },
      ]),
      headers: total,
    },
    after: ["importLoads"],
    errors: ["unknownFilter", "tooLarge"],
    run: finds(findLegacyLoads),
  },
  {
    ...legacyRead,
    name: "getLegacyDocument",
    summary: "Get document",
    path: "/api/document/{guid}/{companyCode}",
    tag: "Legacy",
    description:
      "The bytes of a document, named by the `reference` of a document object. Takes `Range` and `If-None-Match`.",
    answer: {
      description: "The content of the document.",
      contentType: "application/octet-stream",
      schema: Type.Unknown(),
      headers: {
        "Content-Disposition": "The name of the document.",
        ETag: "Names the content.",
      },
    },
    otherAnswers: {
      206: {
        description: "The part of the content that `Range` asks for.",
        contentType: "application/octet-stream",
        schema: Type.Unknown(),
        headers: { "Content-Range": "Which part it is." },
      },
      304: { description: "The client has this content already." },
      416: {
        description: "There is no such part.",
        headers: { "Content-Range": "The size of the content." },
      },
    },
    after: ["importStops"],
    errors: ["documentNotFound"],
    run: async ({ call }, request) => {
      const { companyId } = request;
      const found = await call(findLegacyDocument, { companyId, guid: param(request, "guid") });
      const { path, size, sha256, name, guid } = found;
      return {
        status: 200,
        contentType: "application/octet-stream",
        headers: {
          "content-disposition": attachment(name, guid),
          // Cached by the client, not by proxies, and revalidated each time: the right to it may have gone.
          "cache-control": "private, no-cache",
        },
        body: { path, size, etag: `"${sha256}"` },
      };
    },
  },
];
