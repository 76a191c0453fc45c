/** Loads of the gateway, results of imports and recorded events (specification/gateway.md#operations). */
import { Type } from "@sinclair/typebox";
import { recordedEvents } from "../../../domain/outbound/recorded-events.ts";
import { readImportInfo } from "../../../operations/imports/import-info.ts";
import { importLoads, type LoadImport as LoadImportInput } from "../../../operations/imports/import-loads.ts";
import {
  assignLoadCarrier,
  assignLoadDriver,
  unassignLoadCarrier,
  unassignLoadDriver,
} from "../../../operations/loads/assign-load.ts";
import { cancelLoad } from "../../../operations/loads/cancel-load.ts";
import { readLoadDetail } from "../../../operations/loads/load-detail.ts";
import { DriverAssignment } from "../../../operations/loads/load-driver.ts";
import { LoadCancellation } from "../../../operations/stops/cancellation-request.ts";
import { CarrierAssignment } from "../../../operations/stops/carrier-assignment.ts";
import { defaultEventLimit, maxEventLimit, readEventList } from "../../../operations/stops/event-list.ts";
import {
  bodyErrors,
  type CompanyOperation,
  importErrors,
  jsonAnswerOf,
  textFilter,
} from "../openapi/api-description.ts";
import {
  DriverAssignmentByBody,
  LoadImport,
  LoadImportAccepted,
  LoadRetrieval,
  withCompany,
} from "../openapi/api-schemas.ts";
import { EventList, ImportInfo } from "../openapi/api-service-schemas.ts";
import { jsonAnswer } from "../server/answer.ts";
import type { HttpOptions } from "../server/http-options.ts";
import type { OperationRequest } from "../server/route.ts";
import {
  answersDocument,
  answersJson,
  answersSuccess,
  bodyNumbered,
  bodyOf,
  gatewayRead,
  gatewayWrite,
  numbered,
  openStopExecution,
  serviceImportOf,
} from "./operation-parts.ts";

const loadHeader = {
  loadNbr: "L-1001",
  earliestStartDttm: "2026-11-06T06:00:00",
  latestStartDttm: "2026-11-06T07:00:00",
  loadTimeZone: "America/Chicago",
  originName: "Depot South",
  originAddr1: "1 Depot Road",
  originCity: "Springfield",
  originState: "IL",
  originZip: "62703",
  originCountry: "US",
  trailerNbr: "T-9",
  weight: 420,
  weightUOM: "kg",
};

function stopOfLoad(stopNbr: string, stopSeq: number, addr1: string) {
  const address = { name: `Shop ${stopNbr}`, addr1, city: "Springfield", state: "IL", country: "US" };
  return { stopNbr, stopSeq, stopType: "DO", to: { address } };
}

const stops = [stopOfLoad("2001", 1, "5 First Street"), stopOfLoad("2002", 2, "6 Second Street")];

const driver = { driverUserName: "rmiller" };
const carrier = { carrierCode: "CARRIER1" };

const changedOnly = "Loads in 10, 20 and 30 can be changed.";
const loadErrors = [...bodyErrors, "loadNotFound", "stopInTransit", "finalState"] as const;

const named =
  "The driver is found by `driverUserName`, else `driverEmail`, else `driverCdl`, else `driverName`; " +
  "`assignmentCriteria` `01` takes an available one.";
const unnamed = "The driver has to be the one that the body names, if it names one.";

const bodyForLoad = bodyNumbered("loadNbr");

function loadImportOf(request: OperationRequest, options: HttpOptions): LoadImportInput {
  const { maxLoads, maxEntries: maxStops, unknownFields } = options;
  const rules = { maxEntries: maxLoads, unknownFields };
  return { ...serviceImportOf(request, options), rules, maxStops, userName: request.userName };
}

const loadRead = { ...gatewayRead, tag: "Loads" } as const;
const loadWrite = { ...gatewayWrite, tag: "Loads" } as const;

export const loadOperations: readonly CompanyOperation[] = [
  {
    ...loadRead,
    name: "getLoadDetail",
    summary: "Get load detail",
    path: "/load/info/{loadNbr}/{companyCode}",
    description:
      "The load as it was sent last, who carries and drives it, its execution, and its stops in their order.",
    answer: jsonAnswerOf("The load.", LoadRetrieval, {
      Load: {
        loadHeader,
        loadExecutionInfo: {
          loadStatus: 10,
          actualStartDTTM: null,
          actualStartTimeZone: null,
          actualEndDTTM: null,
          actualEndTimeZone: null,
        },
        loadAssignment: {},
        stops: stops.map((stop) => ({
          stop,
          stopExecutionInfo: { ...openStopExecution, stopStatus: "20" },
        })),
      },
    }),
    after: ["importLoads"],
    errors: ["loadNotFound", "tooLarge"],
    run: answersDocument(readLoadDetail, numbered("loadNbr")),
  },
  {
    ...loadWrite,
    name: "importLoads",
    summary: "Import loads (asynchronous)",
    path: "/load/update/{serviceName}/{companyCode}",
    isMappable: true,
    takesLarge: true,
    description:
      "Creates loads, or replaces those in 10, 20 and 30; stops that are no longer listed become unplanned. The form is " +
      "checked at once; what is accepted survives a crash and is applied in the background, load by load. " +
      "`/import/info` reports its result.",
    request: { schema: LoadImport, example: { companyCode: "DEMO", loads: [{ loadHeader, stops }] } },
    answer: jsonAnswerOf("Accepted, and kept.", LoadImportAccepted, {
      status: "Success",
      importId: "0b9f1d0e-6f2c-4f5e-9a57-0c8b2a7d4e11",
    }),
    errors: [...importErrors, "unknownService"],
    run: async ({ call, options }, request) => {
      const { importId } = await call(importLoads, loadImportOf(request, options()));
      return jsonAnswer(JSON.stringify({ status: "Success", importId }));
    },
  },
  {
    ...loadWrite,
    name: "assignLoadCarrier",
    summary: "Assign load to carrier",
    path: "/load/assign/carrier/{loadNbr}/{companyCode}",
    description:
      `Gives a load to a carrier (business partner). ${changedOnly} With \`assignmentCriteria\` \`01\` the carrier's available ` +
      "driver gets it too.",
    request: { schema: withCompany(CarrierAssignment), example: carrier },
    after: ["importLoads", "updateBusinessPartners"],
    errors: [...loadErrors, "partnerNotFound", "driverNotFound"],
    run: answersSuccess(assignLoadCarrier, bodyForLoad),
  },
  {
    ...loadWrite,
    name: "unassignLoadCarrier",
    summary: "Unassign load from carrier",
    path: "/load/unassign/carrier/{loadNbr}/{companyCode}",
    description: `Takes a load from the carrier that the body names. ${changedOnly}`,
    request: { schema: withCompany(CarrierAssignment), example: carrier },
    after: ["importLoads", "updateBusinessPartners", "assignLoadCarrier"],
    errors: [...loadErrors, "notAssigned"],
    run: answersSuccess(unassignLoadCarrier, bodyForLoad),
  },
  {
    ...loadWrite,
    name: "assignLoadDriver",
    summary: "Assign load to driver",
    path: "/load/assign/driver/{loadNbr}/{companyCode}",
    description: `Gives a load to a driver. ${changedOnly} ${named}`,
    request: { schema: withCompany(DriverAssignment), example: driver },
    after: ["importLoads", "updateBusinessPartners", "updateUsers"],
    errors: [...loadErrors, "driverNotFound", "driverRequired"],
    run: answersSuccess(assignLoadDriver, bodyForLoad),
  },
  {
    ...loadWrite,
    name: "assignLoadDriverByBody",
    summary: "Assign load to driver, with loadNbr in the body",
    path: "/load/assign/driver/{companyCode}",
    description: `As with the number in the path; here \`loadNbr\` is in the body. ${named}`,
    request: { schema: DriverAssignmentByBody, example: { loadNbr: "L-1001", ...driver } },
    after: ["importLoads", "updateBusinessPartners", "updateUsers"],
    errors: [...loadErrors, "driverNotFound", "driverRequired"],
    run: answersSuccess(assignLoadDriver, bodyOf),
  },
  {
    ...loadWrite,
    name: "unassignLoadDriver",
    summary: "Unassign load from driver",
    path: "/load/unassign/driver/{loadNbr}/{companyCode}",
    isBodyOptional: true,
    description: `Takes a load in 30 from its driver. ${unnamed}`,
    request: { schema: withCompany(DriverAssignment), example: driver },
    after: ["importLoads", "updateBusinessPartners", "updateUsers", "assignLoadDriver"],
    errors: [...loadErrors, "driverNotFound", "notAssigned"],
    run: answersSuccess(unassignLoadDriver, bodyForLoad),
  },
  {
    ...loadWrite,
    name: "unassignLoadDriverByBody",
    summary: "Unassign load from driver, with loadNbr in the body",
    path: "/load/unassign/driver/{companyCode}",
    description: `As with the number in the path; here \`loadNbr\` is in the body. ${unnamed}`,
    request: { schema: DriverAssignmentByBody, example: { loadNbr: "L-1001", ...driver } },
    after: ["importLoads", "updateBusinessPartners", "updateUsers", "assignLoadDriverByBody"],
    errors: [...loadErrors, "driverNotFound", "notAssigned"],
    run: answersSuccess(unassignLoadDriver, bodyOf),
  },
  {
    ...loadWrite,
    name: "cancelLoad",
    summary: "Cancel load",
    path: "/load/cancel/{companyCode}",
    description: "Cancels a load that has no driver, with a reason. Its stops become unplanned.",
    request: {
      schema: withCompany(LoadCancellation),
      example: { loadNbr: "L-1001", reasonCode: "WEATHER", reasonComments: "Road closed." },
    },
    after: ["importLoads"],
    errors: [...bodyErrors, "loadNotFound", "loadHasDriver", "finalState"],
    run: answersSuccess(cancelLoad, bodyOf),
  },
  {
    ...gatewayRead,
    name: "getImportInfo",
    summary: "Result of an asynchronous import",
    path: "/import/info/{importId}/{companyCode}",
    tag: "Imports",
    description: "What became of an import of loads, load by load.",
    answer: jsonAnswerOf("The outcome so far.", ImportInfo, {
      importId: "0b9f1d0e-6f2c-4f5e-9a57-0c8b2a7d4e11",
      status: "Success",
      receivedDTTM: "2026-11-05T14:00:00",
      finishedDTTM: "2026-11-05T14:00:01",
      timeZone: "UTC",
      loads: [{ loadNbr: "L-1001", status: "Success" }],
    }),
    errors: ["loadNotFound"],
    run: answersJson(readImportInfo, numbered("importId")),
  },
  {
    ...gatewayRead,
    name: "listEvents",
    summary: "Recorded events of a stop or load",
    path: "/event/list/{companyCode}",
    query: "own",
    tag: "Events",
    description:
      "What has been recorded of a stop or a load, oldest first. Send `stopNbr`, `loadNbr` or both.",
    parameters: [
      textFilter("stopNbr", "Number of the stop.", "1001"),
      textFilter("loadNbr", "Number of the load."),
      textFilter(
        "since",
        "The `eventId` of the last event that is known, or a date-time in UTC from which on events are wanted.",
      ),
      {
        name: "limit",
        description: "How many events at most.",
        schema: Type.Integer({ minimum: 1, maximum: maxEventLimit, default: defaultEventLimit }),
      },
    ],
    answer: jsonAnswerOf("The events.", EventList, {
      Events: [
        {
          eventId: "5c1e0f2a-7d3b-49c6-8a10-2f6e9b04d7c3",
          eventCode: recordedEvents.stopUpdated.code,
          eventName: recordedEvents.stopUpdated.name,
          stopNbr: "1001",
          eventDTTM: "2026-11-05T14:00:00",
          eventTz: "UTC",
        },
      ],
    }),
    after: ["importStops", "importStops"],
    errors: ["unknownFilter", "missing", "badDate", "stopNotFound", "loadNotFound"],
    run: answersJson(readEventList, ({ companyId, query }) => ({ companyId, parameters: query })),
  },
];
