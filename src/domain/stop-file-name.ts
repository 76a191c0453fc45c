/**
 * Names of stop files: `<stopnumber>_CCYYMMDD_HHMMSS.xml`, all lower case (decisions 6).
 */
export type StopFileName =
  | { readonly kind: "named"; readonly stopNbr: string; readonly nameTime: number }
  | { readonly kind: "wrong"; readonly why: string };

const form = /^(.+)_(\d{8})_(\d{6})\.xml$/;
const stopNumber = /^[a-z0-9._-]{1,20}$/;

function isRealTime(date: string, time: string): boolean {
  const [year, month, day] = [Number(date.slice(0, 4)), Number(date.slice(4, 6)), Number(date.slice(6, 8))];
  const [hour, minute, second] = [
    Number(time.slice(0, 2)),
    Number(time.slice(2, 4)),
    Number(time.slice(4, 6)),
  ];
  const real = new Date(Date.UTC(year, month - 1, day));
  const isRealDate = year >= 1970 && real.getUTCMonth() === month - 1 && real.getUTCDate() === day;
  return isRealDate && hour < 24 && minute < 60 && second < 60;
}

const expected = "expected <stopnumber>_CCYYMMDD_HHMMSS.xml, for example 4711_20261105_080000.xml";

function wrong(why: string): StopFileName {
  return { kind: "wrong", why: `${why}: ${expected}` };
}

/** Takes a name apart. `nameTime` is the number CCYYMMDDHHMMSS, which orders as the times do. */
export function parseStopFileName(name: string): StopFileName {
  if (!/\.xml$/i.test(name)) return wrong("the name does not end in .xml");
  if (name !== name.toLowerCase()) return wrong("the name is not all lower case");
  const match = form.exec(name);
  const [, number = "", date = "", time = ""] = match ?? [];
  if (match === null) return wrong("the name does not end in _CCYYMMDD_HHMMSS.xml");
  if (!stopNumber.test(number)) {
    return wrong("the stop number in the name is not 1 to 20 characters of a-z 0-9 . _ -");
  }
  if (!isRealTime(date, time)) return wrong(`${date}_${time} is not a real date and time`);
  return { kind: "named", stopNbr: number, nameTime: Number(date + time) };
}

/** The name of a receipt: `<file name without .xml>.receipt.xml`. */
export function receiptNameOf(fileName: string): string {
  return `${baseNameOf(fileName)}.receipt.xml`;
}

/** The name without `.xml` in any case. */
export function baseNameOf(fileName: string): string {
  return fileName.replace(/\.xml$/i, "");
}

/** Another name for the same file, for a folder in which its own is taken: the ledger id goes before the ending. */
export function nameWithId(fileName: string, id: number): string {
  const base = baseNameOf(fileName);
  return `${base}.${id}${fileName.slice(base.length)}`;
}
