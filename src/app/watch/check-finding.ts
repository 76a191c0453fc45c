/** How a disk fills: what its line says, in numbers. */
export interface DiskForecast {
  /** The first folder that was found on it. */
  readonly folder: string;
  /** Of the period whose growth it goes by. */
  readonly measuredDays: number;
  /** Bytes that may still be used. */
  readonly roomBytes: number;
  /** In how many days it is full; left out when it lasts for ten years. */
  readonly fullInDays?: number;
  /** What comes less what goes of each kind, in the mean until the last of the days below, the most first. */
  readonly rates: readonly { readonly what: string; readonly bytesPerDay: number }[];
  /** By how many bytes more there is after so many days, from today on. */
  readonly points: readonly { readonly day: number; readonly bytes: number }[];
}

/** One line of `dropgate check`. */
export interface CheckFinding {
  readonly status: "ok" | "warning" | "problem";
  readonly what: string;
  readonly remedy?: string;
  readonly forecast?: DiskForecast;
}

export function fine(what: string): CheckFinding {
  return { status: "ok", what };
}

export function warning(what: string, remedy: string): CheckFinding {
  return { status: "warning", what, remedy };
}

export function problem(what: string, remedy: string): CheckFinding {
  return { status: "problem", what, remedy };
}

/** The rights of a file, as `chmod` takes them. */
export function modeText(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}
