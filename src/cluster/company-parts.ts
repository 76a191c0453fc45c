/** The parts of the background work of a company, begun one after the other and ended in reverse. */
import type { Logger } from "../lib/logs/log.ts";
import { type CompanyWork, NotEndedError, type TakenCompany } from "../store/cluster/ownership.ts";

export interface CompanyPartsDeps {
  /** In the order in which they begin. */
  readonly parts: readonly CompanyWork[];
  readonly log: Logger;
}

/**
 * How long each part took, in milliseconds by its name. Rejects with the first failure; what had begun goes on until
 * `leaveAll`.
 */
export async function takeAll(
  { parts }: CompanyPartsDeps,
  company: TakenCompany,
  lost: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const took: Record<string, number> = {};
  for (const part of parts) {
    lost.throwIfAborted();
    const beganAt = performance.now();
    await part.take(company, lost);
    took[part.name] = Math.round(performance.now() - beganAt);
  }
  return took;
}

/** Goes on after failures, which the log has. Whether all of them have come to their end. */
export async function leaveAll(
  { parts, log }: CompanyPartsDeps,
  company: TakenCompany,
  how: { readonly isFenced: boolean; readonly deadline: AbortSignal },
): Promise<boolean> {
  let isSure = true;
  for (const part of parts.toReversed()) {
    try {
      await part.leave(company, how, how.deadline);
    } catch (error) {
      isSure = false;
      if (error instanceof NotEndedError) continue;
      const fields = { err: error, company: company.companyCode, part: part.name };
      log.error(fields, "a part of the work of a company did not end as it should; continuing");
    }
  }
  return isSure;
}
