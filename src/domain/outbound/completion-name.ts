/**
 * Names of completion files: `<stopnumber>_CCYYMMDD_HHMMSS.xml` (specification/outbound.md#names-of-files), in the form
 * that stop files have (`stop-file-name.ts`).
 */
import { stopNumberInName } from "../files/stop-number-in-name.ts";

const maxStopNumber = 20;
/** The first and the last second that a name can say. */
const firstTime = "19700101_000000";
const lastTime = "99991231_235959";

function namePart(stopNbr: string): string {
  return stopNumberInName([...stopNbr].slice(0, maxStopNumber).join(""));
}

function timePart(localDTTM: string): string {
  const time = localDTTM.replaceAll(/[-:]/g, "").replace("T", "_");
  return time < firstTime ? firstTime : time;
}

/**
 * The name of the completion file of a stop. `localDTTM` is `YYYY-MM-DDThh:mm:ss`, real and padded; a year before 1970
 * counts as the beginning of 1970. Two stop numbers may have one name: `freeCompletionName` finds the next free one.
 */
export function completionFileName(stopNbr: string, localDTTM: string): string {
  return `${namePart(stopNbr)}_${timePart(localDTTM)}.xml`;
}

const form = /^(.+)_(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)\.xml$/;

/** The name one second later. After the last second of the year 9999 comes the first one of 1970. */
export function nextCompletionName(name: string): string {
  const match = form.exec(name);
  if (match === null) throw new Error("the name of a completion file ends in _CCYYMMDD_HHMMSS.xml");
  const [, base = "", year, month, day, hour, minute, second] = match;
  if (name.endsWith(`_${lastTime}.xml`)) return `${base}_${firstTime}.xml`;
  const next = new Date(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + 1_000);
  return completionFileName(base, next.toISOString().slice(0, 19));
}

/** Names between two, both of them included, no more than so many. */
export interface NameRange {
  readonly from: string;
  readonly to: string;
  readonly limit: number;
}

const namesAtOnce = 500;

/** The first name from `wanted` on that is not taken. `listTaken` gives the taken ones of a range, in their order. */
export async function freeCompletionName(
  wanted: string,
  listTaken: (range: NameRange) => Promise<readonly string[]>,
): Promise<string> {
  let name = wanted;
  for (;;) {
    // All names of the stop from this one on: what comes before the time in the name is the same in all of them.
    const to = name.replace(/_\d{8}_\d{6}\.xml$/, "_99999999_999999.xml");
    const from = name;
    const taken = new Set(await listTaken({ from, to, limit: namesAtOnce }));
    while (taken.has(name)) name = nextCompletionName(name);
    // Go on when the page was full, or when the first second of 1970 has followed the last of all.
    if (name === from || (name > from && taken.size < namesAtOnce)) return name;
  }
}
