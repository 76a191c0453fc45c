/** Rules of alerts: ways that lead nowhere, zones, and how servers are reached. */
import type { Config } from "../schema.ts";
import { checkEmail } from "./messages-rules.ts";
import { checkPair, checkTimes, checkWebServer, ofEachCompany, type RuleFault, when } from "./rule-fault.ts";

type Audience = Pick<Config["alerts"], "to" | "https"> & { readonly zone?: string };

function checkAudience(
  { to, https, zone }: Audience,
  path: string,
  { email }: Config["alerts"],
): RuleFault[] {
  return [
    ...when(to.length > 0 && email === undefined, {
      path: `${path}.to`,
      message: "cannot be told: alerts.email says by which server; set it, or remove the addresses",
    }),
    ...(https === undefined ? [] : checkWebServer(https, `${path}.https`)),
    ...(https === undefined ? [] : checkPair(https, `${path}.https`, ["certificate", "privateKey"])),
    ...(zone === undefined ? [] : checkTimes({ zone }, path)),
  ];
}

/** What cannot work in the alerts of the operator and of companies. */
export function checkAlerts(config: Config): RuleFault[] {
  const { alerts } = config;
  return [
    ...(alerts.email === undefined ? [] : checkEmail(alerts.email, "alerts.email")),
    ...checkAudience(alerts, "alerts", alerts),
    ...ofEachCompany(config, "alerts", (own, path) => checkAudience(own, path, alerts)),
  ];
}

/** What will not work as it is. */
export function warnOfAlerts(config: Config): RuleFault[] {
  const isNobody = ({ to, https }: Audience) => to.length === 0 && https === undefined;
  const hasOthers = Object.values(config.companies).some(({ alerts }) => alerts && !isNobody(alerts));
  return [
    ...when(config.alerts.email !== undefined && isNobody(config.alerts) && !hasOthers, {
      path: "alerts.email",
      message: "is used by nobody: alerts.to has no address, nor has any company; add one, or remove it",
    }),
    ...ofEachCompany(config, "alerts", (own, path) =>
      // Its kinds are in force when the operator alone is told, too.
      when(isNobody(own) && Object.keys(own.kinds).length === 0, {
        path,
        message: "tells nobody of this company: set to or https, or remove it",
      }),
    ),
  ];
}
