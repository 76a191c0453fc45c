/**
 * Turns: the requests that have come in one round of the event loop are worked on together, and what is asked of the world
 * once a turn holds for all of them.
 *
 *   bytes are read, requests wait --> setImmediate: the turn begins, all of them run --> setImmediate: the turn is over
 *
 * Why an answer of the turn is not too old for any request in it. A request runs only after all of its bytes (of its head,
 * when it has a body) have been read, so whatever is looked up within the turn is looked up after the client sent it and
 * before it is answered: it is what a look-up for this request alone could have found. The two immediates are queued one
 * behind the other, and between them run nothing but callbacks that ask for no input (ticks and promises): whatever is
 * read from a socket later belongs to a later turn. The promises that the requests of the turn are waiting for, and that
 * settle without input, still belong to it.
 *
 * What this process itself changes within a turn is no exception, as long as it says so by `renewTurn`.
 */
let number = 0;
let isUnderWay = false;
let waiting: (() => void)[] = [];

function begin(): void {
  const works = waiting;
  waiting = [];
  number += 1;
  isUnderWay = true;
  for (const work of works) work();
}

function end(): void {
  isUnderWay = false;
}

/** Runs `work` in the next turn. It must not throw. */
export function runInTurn(work: () => void): void {
  waiting.push(work);
  if (waiting.length > 1) return;
  setImmediate(begin);
  setImmediate(end);
}

/** The turn that is under way; undefined outside of one, where nothing may be taken over from anybody else. */
export function currentTurn(): number | undefined {
  return isUnderWay ? number : undefined;
}

/** What was looked up in this turn is old: this process has changed something. */
export function renewTurn(): void {
  number += 1;
}
