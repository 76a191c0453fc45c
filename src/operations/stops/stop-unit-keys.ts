/** The keys of units of work that write stops which are on no load (`store/database/groups/side-by-side.ts`). */
import { stopNumberForms } from "../../domain/files/stop-number-in-name.ts";

/** Of a form of a stop number, as it may stand in the name of a file. */
export function stopUnitKey(form: string): string {
  return `stop ${form}`;
}

/** Of the stops of these numbers. */
export function stopUnitKeys(stopNbrs: Iterable<string>): readonly string[] {
  return [...new Set([...stopNbrs].flatMap(stopNumberForms).map(stopUnitKey))];
}
