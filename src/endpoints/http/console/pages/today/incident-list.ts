/** Where the console shows what an incident is about, and has what can be done about it. */
import type { AlertKindName } from "../../../../../domain/alerts/alert-kinds.ts";
import type { Addresses } from "../../kit/link.ts";
import { listsOf } from "./concerns.ts";

/** Of a company's list by its code, or of what belongs to all companies. */
type Where = (to: Addresses, company: string | undefined) => string;

const health: Where = (to) => to.at("/health");

const ofKind: Readonly<Record<AlertKindName, Where>> = {
  refusedFiles: (to, company) => to.at("/files", { company, state: "refused" }),
  filesWaiting: (to, company) => to.at("/waiting", { company }),
  deadLetters: (to, company) => to.at("/deliveries", { company, state: "dead" }),
  pausedTarget: (to, company) => to.at("/deliveries", { company, state: "waiting" }),
  missingTarget: (to, company) => to.at("/deliveries", { company, state: "waiting" }),
  uncollectedFiles: (to, company) =>
    company === undefined ? to.at("/deliveries", { fetched: "late" }) : listsOf(to, company).uncollected,
  uploadsRefused: health,
  diskSpace: (to) => `${to.at("/health")}#growth`,
  ledgerDiscrepancy: health,
  lateArrivals: (to, company) => to.at("/late", { company }),
  failingRemote: (to) => to.at("/remotes"),
  certificateExpiry: health,
  backupOverdue: health,
  retentionFails: health,
  clockJump: health,
  bruteForce: (to) => `${to.at("/users")}#bans`,
};

/** For operators only: others may neither see health nor bans. */
const forOperators: ReadonlySet<AlertKindName> = new Set([
  ...(["uploadsRefused", "diskSpace", "ledgerDiscrepancy", "certificateExpiry", "backupOverdue"] as const),
  ...(["retentionFails", "clockJump", "bruteForce"] as const),
]);

/** The address of the page on which to go on; undefined where the viewer may not see it. */
export function pageOfIncident(
  kind: AlertKindName,
  { to, company, isOperator }: { to: Addresses; company: string | undefined; isOperator: boolean },
): string | undefined {
  if (forOperators.has(kind) && !isOperator) return undefined;
  return ofKind[kind](to, company);
}
