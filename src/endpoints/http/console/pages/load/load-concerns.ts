/** What the state of a load means for whoever looks after it. */
import { finalLoadStatuses } from "../../../../../domain/load/load-status.ts";
import { hourMs } from "../../../../../lib/durations.ts";
import { words } from "../../words/words.ts";
import type { Concern } from "../stop/stop-concerns.ts";
import { isLateOnLoad, visitsOfLoad } from "./load-day.ts";
import type { LoadFound } from "./load-view.ts";

const { told } = words.load;

function importConcerns({ newestImport: newest }: LoadFound): readonly Concern[] {
  if (newest?.state === "refused")
    return [{ kind: "bad", text: told.refused, remedies: [told.refusedRemedy], href: "#imports" }];
  if (newest?.state === "waiting")
    return [{ kind: "wait", text: told.waits, remedies: [told.waitsRemedy], href: "#imports" }];
  return [];
}

/** The concerns, the worse ones first; empty when nothing is wrong. */
export function loadConcerns(load: LoadFound, now: number): readonly Concern[] {
  const { status, driver, last } = load;
  const isOver = finalLoadStatuses.some((final) => final === status);
  const late = new Set(
    visitsOfLoad(load)
      .filter((visit) => isLateOnLoad(visit, now))
      .map(({ number }) => number),
  );
  const hasDriver = Object.keys(driver).length > 0;
  const isSilent = status === 40 && last !== undefined && now - last.at > hourMs;
  const all: Concern[] = [
    ...(status === 70
      ? [{ kind: "bad" as const, text: told.suspended, remedies: [told.suspendedRemedy] }]
      : []),
    ...importConcerns(load),
    ...(late.size > 0 && !isOver
      ? [{ kind: "bad" as const, text: told.late(late.size), remedies: [told.lateRemedy], href: "#day" }]
      : []),
    ...(isSilent ? [{ kind: "wait" as const, text: told.silent, remedies: [told.silentRemedy] }] : []),
    ...(!hasDriver && !isOver
      ? [{ kind: "wait" as const, text: told.noDriver, remedies: [told.noDriverRemedy] }]
      : []),
  ];
  return [...all.filter(({ kind }) => kind === "bad"), ...all.filter(({ kind }) => kind === "wait")];
}
