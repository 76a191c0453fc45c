/** What the state of a stop means for whoever looks after it: each concern with its remedy and the place to go to. */
import { isOpenState } from "../../../../../domain/files/file-state.ts";
import { isFinalStopStatus, isStopStatus } from "../../../../../domain/stop/stop-status.ts";
import type { Addresses } from "../../kit/link.ts";
import { words } from "../../words/words.ts";
import type { DeliveryLink } from "../file/file-view.ts";
import type { StopFileView, StopFound, VisitView } from "./stop-view.ts";

const { told, visits: visitNames } = words.stop;

export interface Concern {
  readonly kind: "bad" | "wait";
  readonly text: string;
  readonly remedies: readonly string[];
  readonly href?: string;
}

/** Whether nothing more happens to the stop; nobody knows it of a state of another version. */
export function isFinalStop({ status }: Pick<StopFound, "status">): boolean {
  return isStopStatus(status) && isFinalStopStatus(status);
}

/** Whether a visit was, or will be, after the end of its window. */
export function isLateVisit({ timeTo, arrivedAt, expectedAt }: VisitView, now: number): boolean {
  if (timeTo === undefined) return false;
  if (arrivedAt !== undefined) return arrivedAt > timeTo;
  return (expectedAt ?? 0) > timeTo || now > timeTo;
}

/** Nothing is to be done any more: completed, by the driver or by hand, or cancelled. A closed one could not be done. */
function isOver({ status }: Pick<StopFound, "status">): boolean {
  return status.startsWith("9");
}

function fileConcern(file: StopFileView, to: Addresses): Concern | undefined {
  const { name, state, reference, remedies } = file;
  const href = to.file(reference);
  if (state === "refused") return { kind: "bad", text: told.fileRefused(name), remedies, href };
  if (state === "superseded") return { kind: "wait", text: told.fileSuperseded(name), remedies: [], href };
  if (isOpenState(state))
    return { kind: "wait", text: told.fileWaits(name), remedies: [told.fileWaitsRemedy], href };
  return undefined;
}

/** The newest file counts, unless it only repeats another. */
function fileConcerns({ files }: StopFound, to: Addresses): readonly Concern[] {
  const newest = files.find(({ state }) => state !== "duplicate");
  const concern = newest && fileConcern(newest, to);
  return concern === undefined ? [] : [concern];
}

function deliveryConcern(delivery: DeliveryLink, to: Addresses): Concern | undefined {
  const { guid, name, target, state, attempts } = delivery;
  const href = to.delivery(guid);
  if (state === "dead")
    return { kind: "bad", text: told.deliveryDead(name, target), remedies: [told.deliveryDeadRemedy], href };
  if (state === "waiting" && attempts > 0)
    return {
      kind: "wait",
      text: told.deliveryWaits(name, target),
      remedies: [told.deliveryWaitsRemedy],
      href,
    };
  return undefined;
}

function lateConcerns(stop: StopFound, now: number): readonly Concern[] {
  if (isFinalStop(stop)) return [];
  return stop.visits.flatMap((visit): Concern[] => {
    if (visit.arrivedAt !== undefined || visit.timeTo === undefined || !isLateVisit(visit, now)) return [];
    const name = visitNames[visit.party];
    const isOverdue = now > visit.timeTo;
    const text = isOverdue ? told.late(name) : told.expectedLate(name);
    return [{ kind: isOverdue ? "bad" : "wait", text, remedies: [told.lateRemedy] }];
  });
}

const unplanned: ReadonlySet<string> = new Set(["05", "10"]);

function planConcerns(stop: StopFound, now: number, to: Addresses): readonly Concern[] {
  const { status, load, company, visits } = stop;
  if (status === "80") return [{ kind: "bad", text: told.closed, remedies: [told.closedRemedy] }];
  if (load?.status === 70) {
    const href = to.load(company, load.loadNbr);
    return [
      { kind: "bad", text: told.loadSuspended(load.loadNbr), remedies: [told.loadSuspendedRemedy], href },
    ];
  }
  if (status === "05") return [{ kind: "wait", text: told.noWindow, remedies: [told.noWindowRemedy] }];
  const hasBegun = visits.some(({ timeFrom }) => timeFrom !== undefined && timeFrom < now);
  if (unplanned.has(status) && load === undefined && hasBegun)
    return [{ kind: "bad", text: told.noLoad, remedies: [told.noLoadRemedy] }];
  return [];
}

/** The concerns, the worse ones first; empty when nothing is wrong. */
export function concernsOf(
  stop: StopFound,
  { now, to }: { readonly now: number; readonly to: Addresses },
): readonly Concern[] {
  const exceptions: Concern[] =
    stop.exceptions.length === 0 || isOver(stop)
      ? []
      : [{ kind: "bad", text: told.exceptions, remedies: [told.exceptionsRemedy] }];
  const all = [
    ...fileConcerns(stop, to),
    ...planConcerns(stop, now, to),
    ...lateConcerns(stop, now),
    ...exceptions,
    ...stop.deliveries.map((one) => deliveryConcern(one, to)).filter((one) => one !== undefined),
  ];
  return [...all.filter(({ kind }) => kind === "bad"), ...all.filter(({ kind }) => kind === "wait")];
}
