/** The API document's texts and examples for loads and their imports. */
import { type ApiDescriptions, bodyErrors, importErrors, jsonAnswerOf, success } from "./api-description.ts";
import {
  CarrierAssignmentBody,
  DriverAssignmentBody,
  DriverAssignmentByBody,
  LoadCancellationBody,
  LoadImport,
  LoadImportAccepted,
  LoadRetrieval,
} from "./api-schemas.ts";
import { ImportInfo } from "./api-service-schemas.ts";
import { openStopExecution } from "./api-stop-descriptions.ts";

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

export const loadDescriptions: ApiDescriptions = {
  getLoadDetail: {
    tag: "Loads",
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
    errors: ["loadNotFound", "tooLarge"],
  },
  importLoads: {
    tag: "Loads",
    description:
      "Creates loads, or replaces those in 10, 20 and 30; stops that are no longer listed become unplanned. The form is " +
      "checked at once; what is accepted survives a crash and is applied in the background, load by load. " +
      "What became of it is told by `/import/info`.",
    request: { schema: LoadImport, example: { companyCode: "DEMO", loads: [{ loadHeader, stops }] } },
    answer: jsonAnswerOf("Accepted, and kept.", LoadImportAccepted, {
      status: "Success",
      importId: "0b9f1d0e-6f2c-4f5e-9a57-0c8b2a7d4e11",
    }),
    errors: [...importErrors, "unknownService"],
  },
  getImportInfo: {
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
  },
  assignLoadCarrier: {
    tag: "Loads",
    description:
      `Gives a load to a carrier (business partner). ${changedOnly} With \`assignmentCriteria\` \`01\` the carrier's available ` +
      "driver gets it too.",
    request: { schema: CarrierAssignmentBody, example: carrier },
    answer: success,
    errors: [...loadErrors, "partnerNotFound", "driverNotFound"],
  },
  unassignLoadCarrier: {
    tag: "Loads",
    description: `Takes a load from the carrier that the body names. ${changedOnly}`,
    request: { schema: CarrierAssignmentBody, example: carrier },
    answer: success,
    errors: [...loadErrors, "notAssigned"],
  },
  assignLoadDriver: {
    tag: "Loads",
    description: `Gives a load to a driver. ${changedOnly} ${named}`,
    request: { schema: DriverAssignmentBody, example: driver },
    answer: success,
    errors: [...loadErrors, "driverNotFound", "driverRequired"],
  },
  unassignLoadDriver: {
    tag: "Loads",
    description: `Takes a load in 30 from its driver. ${unnamed}`,
    request: { schema: DriverAssignmentBody, example: driver },
    answer: success,
    errors: [...loadErrors, "driverNotFound", "notAssigned"],
  },
  assignLoadDriverByBody: {
    tag: "Loads",
    description: `As with the number in the path; here \`loadNbr\` is in the body. ${named}`,
    request: { schema: DriverAssignmentByBody, example: { loadNbr: "L-1001", ...driver } },
    answer: success,
    errors: [...loadErrors, "driverNotFound", "driverRequired"],
  },
  unassignLoadDriverByBody: {
    tag: "Loads",
    description: `As with the number in the path; here \`loadNbr\` is in the body. ${unnamed}`,
    request: { schema: DriverAssignmentByBody, example: { loadNbr: "L-1001", ...driver } },
    answer: success,
    errors: [...loadErrors, "driverNotFound", "notAssigned"],
  },
  cancelLoad: {
    tag: "Loads",
    description: "Cancels a load that has no driver, with a reason. Its stops become unplanned.",
    request: {
      schema: LoadCancellationBody,
      example: { loadNbr: "L-1001", reasonCode: "WEATHER", reasonComments: "Road closed." },
    },
    answer: success,
    errors: [...bodyErrors, "loadNotFound", "loadHasDriver", "finalState"],
  },
};
