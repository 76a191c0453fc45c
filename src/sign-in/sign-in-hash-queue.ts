/**
 * Runs few costly tasks at a time and lets a bounded number wait. Familiar callers go before strangers, and some places of
 * the queue are theirs alone: a flood of guesses from many addresses does not shut out the real hosts.
 */
export interface HashQueue {
  /** The result of the task, or undefined at once when the queue is full. */
  run<T>(isFamiliar: boolean, task: () => Promise<T>): Promise<T> | undefined;
}

export interface HashQueueLimits {
  readonly maxRunning: number;
  readonly maxWaiting: number;
  readonly maxWaitingStrangers: number;
}

export function createHashQueue(limits: HashQueueLimits): HashQueue {
  const familiars: (() => void)[] = [];
  const strangers: (() => void)[] = [];
  let running = 0;

  const isFull = (isFamiliar: boolean) =>
    familiars.length + strangers.length >= limits.maxWaiting ||
    (!isFamiliar && strangers.length >= limits.maxWaitingStrangers);

  async function runInTurn<T>(isFamiliar: boolean, task: () => Promise<T>): Promise<T> {
    if (running < limits.maxRunning) running += 1;
    // The next one takes over the place of the one that ends, so `running` stays.
    else await new Promise<void>((resolve) => (isFamiliar ? familiars : strangers).push(resolve));
    try {
      return await task();
    } finally {
      const next = familiars.shift() ?? strangers.shift();
      if (next === undefined) running -= 1;
      // After the result of this task has taken effect: it may have banned the next caller.
      else setImmediate(next);
    }
  }

  return {
    run(isFamiliar, task) {
      if (running >= limits.maxRunning && isFull(isFamiliar)) return undefined;
      return runInTurn(isFamiliar, task);
    },
  };
}
