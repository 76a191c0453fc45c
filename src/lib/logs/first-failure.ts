import type { Logger } from "./log.ts";

/** A runner for work that is repeated: it never rejects, and of failures in a row it logs the first alone. */
export function loggingFirstFailure(
  log: Pick<Logger, "error">,
  message: string,
): (work: () => Promise<void>) => Promise<void> {
  let isFailing = false;
  return async (work) => {
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.error({ err: error }, message);
      isFailing = true;
    }
  };
}
