/** Whether a name on another server stands for the same content as before, judged by its listing. */

/** What a listing says of a file. */
export interface RemoteVersion {
  readonly size: number;
  /** When it was changed, as the server writes it; only ever compared. */
  readonly modified: string;
}

/** `Nov 21 18:55`, which listings in the form of `ls -l` write of the last half year, and `Nov 21  2026`, of older files. */
const unixDate = /^([A-Z][a-z]{2}) +(\d{1,2}) +(\d{4}|\d{1,2}:\d{2})$/;

/** Whether the same time is written with the time of day once and with the year the other time. */
function isSameUnixDate(one: string, other: string): boolean {
  const [first, second] = [unixDate.exec(one), unixDate.exec(other)];
  if (first === null || second === null) return false;
  const isSameDay = first[1] === second[1] && Number(first[2]) === Number(second[2]);
  return isSameDay && first[3]?.includes(":") !== second[3]?.includes(":");
}

export function isSameRemoteVersion(one: RemoteVersion, other: RemoteVersion): boolean {
  if (one.size !== other.size) return false;
  return one.modified === other.modified || isSameUnixDate(one.modified, other.modified);
}
