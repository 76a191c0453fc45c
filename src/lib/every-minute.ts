import { schedule } from "node-cron";

/** Calls `look` at the beginning of each minute until it is stopped. */
function everyMinute(name: string): (look: () => void) => { stop(): void } {
  return (look) => {
    const options = { name, noOverlap: true, suppressMissedWarning: true, unref: true };
    const task = schedule("* * * * *", look, options);
    return { stop: () => void task.destroy() };
  };
}

/** What looks each minute, one look after the other. */
export interface MinuteLooks {
  /** Looks once more. Resolves when that is done. Never rejects: `lookOnce` must not. */
  look(): Promise<void>;
  /** Resolves when the looks that were asked for until now are done. */
  idle(): Promise<void>;
  /** Looks each minute from now on. */
  begin(): void;
  /** Looks no more. Resolves when nobody looks. */
  end(): Promise<void>;
}

/** Calls `lookOnce` when `trigger` says so, by default that of `everyMinute`, and never twice at a time. */
export function lookEachMinute(
  name: string,
  lookOnce: () => Promise<void>,
  trigger: (look: () => void) => { stop(): void } = everyMinute(name),
): MinuteLooks {
  let task: { stop(): void } | undefined;
  let turn = Promise.resolve();
  const look = () => {
    turn = turn.then(lookOnce);
    return turn;
  };
  return {
    look,
    idle: () => turn,
    begin() {
      task = trigger(() => void look());
    },
    async end() {
      task?.stop();
      task = undefined;
      await turn;
    },
  };
}
