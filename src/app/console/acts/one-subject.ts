/** Acts on one thing: done, done before by the same form, or refused with the words that say who was quicker. */
import { ActRefused, type Seen } from "../../../endpoints/http/console/console-acts.ts";
import { meanwhile, type RunningAct } from "../running-act.ts";

/**
 * Ends an act that has found its subject changed: returns when the same form has done it before. Rejects with `ActRefused`
 * otherwise, with who changed it, or `otherwise` when nobody in the console did.
 */
export async function endChanged(
  act: RunningAct,
  about: Seen & { readonly subject: string },
  otherwise: string,
): Promise<void> {
  const since = await meanwhile(act, about, otherwise);
  if (since.kind === "changed") throw new ActRefused("changed", since.why);
}
