import { schedule } from "node-cron";

/** Calls `look` at the beginning of each minute until it is stopped. */
export function everyMinute(name: string): (look: () => void) => { stop(): void } {
  return (look) => {
    const options = { name, noOverlap: true, suppressMissedWarning: true, unref: true };
    const task = schedule("* * * * *", look, options);
    return { stop: () => void task.destroy() };
  };
}
