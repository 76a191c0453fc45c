/** What tests leave behind in the process that runs them: timers, sockets, threads and calls that were not there before. */

export interface LeftOverReport {
  readonly from: "left-over";
  readonly leftOver: readonly string[];
}

export function isLeftOverReport(message: unknown): message is LeftOverReport {
  return typeof message === "object" && message !== null && "from" in message && message.from === "left-over";
}

/** What is in the first list more often than in the second. */
export function additional(now: readonly string[], before: readonly string[]): string[] {
  const left = [...before];
  return now.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
