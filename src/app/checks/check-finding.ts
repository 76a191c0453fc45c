/** One line of `dropgate check`. */
export interface CheckFinding {
  readonly status: "ok" | "warning" | "problem";
  readonly what: string;
  readonly remedy?: string;
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
