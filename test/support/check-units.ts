/**
 * Holds the rules of units of work (`src/store/database/groups/unit-checks.ts`) in all tests but those of whole daemons, which run
 * as at a customer's. `DROPGATE_CHECK_UNITS=0` leaves it out.
 */
import { expect } from "vitest";

const isOfDaemon = expect.getState().testPath?.includes("/test/e2e/") === true;
if (isOfDaemon) delete process.env["DROPGATE_CHECK_UNITS"];
else process.env["DROPGATE_CHECK_UNITS"] ??= "1";
