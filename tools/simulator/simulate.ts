/** The simulator's entry, which `dropgate simulate` loads: plans a day of loads, plays it, and says what came of it. */
import type { SimulationRequest, Simulator } from "../../src/cli/simulation.ts";
import type { DayPlan } from "./day-plan.ts";
import { createGatewayClient } from "./gateway-client.ts";
import { planDay } from "./plan-day.ts";
import { type DayReport, playDay } from "./play-day.ts";
import { createProgressView } from "./progress-view.ts";
import { summaryLines } from "./summary-lines.ts";

type Plan = DayPlan | { readonly impossible: string };

function planOf({ day, driverPassword }: SimulationRequest): Plan {
  try {
    return planDay({ ...day, driversReport: driverPassword !== undefined });
  } catch (error) {
    if (error instanceof RangeError) return { impossible: error.message };
    throw error;
  }
}

/** What to do about the one refusal that a first run meets: nobody to drive. */
function remedyOf({ refusals }: DayReport, { options }: DayPlan): string | undefined {
  if (!refusals.some(({ answer }) => answer.includes('"reasonCode":926'))) return undefined;
  const { companyCode, drivers } = options;
  const lines = drivers.map(
    (name) => `  dropgate user add ${name} --company ${companyCode} --role DI_Driver`,
  );
  return ["The loads need drivers. Add them, or name others with --driver:", ...lines].join("\n");
}

export const simulate: Simulator["simulate"] = async (request, progress, signal) => {
  const plan = planOf(request);
  if ("impossible" in plan) return { kind: "impossible", reason: plan.impossible };
  const { url } = request;
  const client = createGatewayClient(request);
  const view = createProgressView(progress);
  try {
    const report = await playDay(plan, client, { ...request.play, onProgress: view.show, signal });
    const remedy = remedyOf(report, plan);
    const { seed, date, prefix } = plan.options;
    return {
      kind: "played",
      isAsPlanned: report.isAsPlanned,
      report: { url, seed, date, prefix, ...report },
      lines: summaryLines(report),
      ...(remedy === undefined ? {} : { remedy }),
    };
  } finally {
    view.end();
    client.close();
  }
};
