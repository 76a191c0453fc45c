/** Acts on a target: tried now, paused, resumed. */
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import type { Content } from "../../kit/html.ts";
import { facts } from "../../kit/section.ts";
import { words } from "../../words/words.ts";
import { type NamedSubject, namedActRoutes } from "../acts/named-act.ts";
import { lookScope } from "../look-scope.ts";
import { ageText, standingOf } from "./delivery-parts.ts";

const said = words.deliveries;

async function preview(
  services: ConsoleServices,
  { user }: ConsoleRequest,
  { company, name }: NamedSubject,
): Promise<Content | undefined> {
  const scope = lookScope(user);
  const companies = scope.companies.filter(({ id }) => id === company.id);
  const { targets } = await services.ask("deliveries", { ...scope, companies }, { filter: {}, limit: 1 });
  const target = targets.find((one) => one.name === name);
  if (target === undefined) return undefined;
  const { columns } = said.targets;
  return facts([
    [said.company, company.code],
    [columns.standing, standingOf(target)],
    [columns.open, target.open],
    [columns.oldest, ageText(target.oldestAt)],
    [columns.dead, target.dead],
  ]);
}

const verbs = {
  retry: { act: "target.retry", done: "targetRetried" },
  pause: { act: "target.pause", done: "targetPaused" },
  resume: { act: "target.resume", done: "targetResumed" },
} as const;

type Verb = keyof typeof verbs;

function routesOf(verb: Verb): readonly ConsoleRoute[] {
  const { act, done } = verbs[verb];
  return namedActRoutes({
    ...{ routeName: `consoleTarget.${verb}`, path: `/console/targets/{company}/{name}/${verb}` },
    ...{ here: "deliveries", back: "/deliveries", done, preview },
    ...said.targetActs[verb],
    act: (services, { user }, { company, name, reason, seenAt }) =>
      services.act(act, { user, companyId: company.id, reason }, { name, seenAt }),
  });
}

export const targetActs: readonly ConsoleRoute[] = (["retry", "pause", "resume"] as const).flatMap(routesOf);
