/** Page 9, for operators: whether the installation is well, in all its parts. */
import { systemClock } from "../../../../../lib/clock.ts";
import type { Answer } from "../../../server/answer.ts";
import { charts, live } from "../../assets/assets.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { html } from "../../kit/html.ts";
import { type Addresses, addresses } from "../../kit/link.ts";
import { page } from "../../kit/page.ts";
import { words } from "../../words/words.ts";
import {
  certificatesSection,
  checkSection,
  programSection,
  readiness,
  selfChecksSection,
  storeSection,
  threadsSection,
  troublesSection,
} from "./health-sections.ts";
import { growthSection } from "./growth-section.ts";
import type { HealthFacts } from "./health-view.ts";
import { nodesSection } from "./nodes-section.ts";
import { backupSection, verificationSection } from "./proof-sections.ts";

const said = words.health;

/** While something is being checked, the page is read again by itself. */
function frameOf(facts: HealthFacts, to: Addresses, content: ReturnType<typeof html>) {
  const isRunning = [facts.check, facts.growth, facts.verification].some(
    ({ running }) => running !== undefined,
  );
  const again = isRunning
    ? html` hx-get="${to.at("/health/again")}" hx-trigger="every 3s" hx-target="this" hx-swap="morph:outerHTML" hx-ext="morph"`
    : "";
  return html`<div id="health" class="stack"${again}>${content}</div>`;
}

/** The page; with what is wrong with the reason of a verification. */
export async function showHealth(
  services: ConsoleServices,
  request: ConsoleRequest,
  fault?: string,
): Promise<Answer> {
  const to = addresses(services);
  const facts = await services.health.facts();
  const { formToken } = request.user;
  const content = html`${[
    readiness(facts),
    nodesSection(facts),
    checkSection(facts, { action: to.at("/health/check"), formToken }),
    selfChecksSection(facts),
    programSection(facts),
    threadsSection(facts),
    storeSection(facts),
    growthSection(facts),
    certificatesSection(facts),
    backupSection(facts, systemClock.now()),
    verificationSection(facts, { action: to.at("/health/verify"), formToken }, fault),
    troublesSection(facts),
  ]}`;
  return page(services, request, {
    ...{ title: said.title, here: "health", scripts: [...live, ...charts, "charts.js"] },
    content: frameOf(facts, to, content),
    status: fault === undefined ? 200 : 422,
  });
}

const shared = { access: "console", method: "GET", who: "operator" } as const;
const run: ConsoleRoute["run"] = (services, request) => showHealth(services, request);

/** The page, and what it reads again by itself: that keeps no session open, however long a verification takes. */
export const healthRoutes: readonly ConsoleRoute[] = [
  { ...shared, name: "consoleHealth", path: "/console/health", run },
  { ...shared, name: "consoleHealthAgain", path: "/console/health/again", isBackground: true, run },
];
