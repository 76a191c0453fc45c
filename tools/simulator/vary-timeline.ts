/** What the road makes of a timeline: reports that come late and in bulk, and reports that come twice. */
import type { PlannedRequest } from "./day-plan.ts";
import type { Random } from "./random.ts";
import { minuteMs } from "../../src/lib/durations.ts";

/**
 * In some loads the driver is without a connection for a while: what happens then is sent at its end, in its order, with
 * its own times in the bodies. The order of the requests stays.
 */
export function withLateReports(
  requests: readonly PlannedRequest[],
  random: Random,
): readonly PlannedRequest[] {
  if (!random.chance(0.3)) return requests;
  const [first, last] = [requests.at(0)?.at ?? 0, requests.at(-1)?.at ?? 0];
  const goneAt = first + (last - first) * random.between(0.2, 0.7);
  const backAt = Math.round((goneAt + random.whole(20, 90) * minuteMs) / 1_000) * 1_000;
  return requests.map((request) =>
    request.at > goneAt && request.at < backAt ? { ...request, at: backAt } : request,
  );
}

/** An answer got lost, so the device sends the very same once more, up to two reports later. */
export function withRepeats(requests: readonly PlannedRequest[], random: Random): readonly PlannedRequest[] {
  const sent: PlannedRequest[] = [];
  const repeats: { readonly request: PlannedRequest; readonly after: number }[] = [];
  for (const [index, request] of requests.entries()) {
    sent.push(request);
    const isReport = request.kind === "routeEvent" || request.kind === "stopEvent";
    if (isReport && request.refusal === undefined && random.chance(0.04))
      repeats.push({ request, after: index + random.whole(0, 2) });
    for (const { request: again } of repeats.filter(({ after }) => after === index))
      sent.push({ ...again, at: request.at, isRepeat: true });
  }
  return sent;
}
