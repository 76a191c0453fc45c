/** The form by which operators add a company. */
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { readReason } from "../../kit/reason.ts";
import { redirect } from "../../session/session-route.ts";
import { refusalIn } from "./user-parts.ts";
import { usersPage } from "./users-page.ts";

/** Leads to the users of the new company, of which there are none yet. */
async function addCompany(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { form, user } = request;
  const { reason, fault } = readReason(form);
  if (fault !== undefined) return await usersPage(services, request, { company: { form, fault } });
  const asked = { code: (form.get("code") ?? "").trim(), name: (form.get("name") ?? "").trim() };
  try {
    const { code } = await services.act("company.add", { user, companyId: undefined, reason }, asked);
    return redirect(services, `/console/users?company=${encodeURIComponent(code)}&done=companyAdded`);
  } catch (error) {
    return await usersPage(services, request, { company: { form, refusal: refusalIn(error) } });
  }
}

export const companyActRoute: ConsoleRoute = {
  ...{ access: "console", name: "consoleAddCompany", method: "POST", path: "/console/companies/add" },
  who: "operator",
  run: addCompany,
};
