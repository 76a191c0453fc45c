/** What can be begun on the page of health. */
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { readReason } from "../../kit/reason.ts";
import { redirect } from "../../session/session-route.ts";
import { showHealth } from "./health-page.ts";

/** Changes nothing, and so asks for no reason. */
async function checkNow(services: ConsoleServices): Promise<Answer> {
  services.health.beginCheck();
  return redirect(services, "/console/health?done=checkBegun");
}

async function verifyNow(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { form, user } = request;
  const { reason, fault } = readReason(form);
  if (fault !== undefined) return await showHealth(services, request, fault);
  await services.act("ledger.verify", { user, companyId: undefined, reason }, {});
  return redirect(services, "/console/health?done=verificationBegun");
}

const posted = { access: "console", method: "POST", who: "operator" } as const;

export const healthActRoutes: readonly ConsoleRoute[] = [
  { ...posted, name: "consoleCheckNow", path: "/console/health/check", run: checkNow },
  { ...posted, name: "consoleVerifyNow", path: "/console/health/verify", run: verifyNow },
];
