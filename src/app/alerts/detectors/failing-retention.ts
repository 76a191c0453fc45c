import { lasting } from "./finding-text.ts";
import type { Detector } from "../detector.ts";
import { minuteMs } from "../../../lib/durations.ts";

const mostSamples = 5;

/** What is too old cannot be removed, pass after pass; what an earlier run has found stays until a pass of this one is through. */
export const detectFailingRetention: Detector<"retentionFails"> = async ({
  settings,
  now,
  open,
  sources,
}) => {
  const { failure, hasPassed } = sources.retention.figures.outcome;
  if (!hasPassed && failure === undefined) return [...open.values()];
  if (failure === undefined || now - failure.at < settings.afterMinutes * minuteMs) return [];
  const { at, faults } = failure;
  const summary = `what is too old cannot be removed, for ${lasting(now - at)}`;
  return [{ cause: "", summary, count: faults.length, since: at, samples: faults.slice(0, mostSamples) }];
};
