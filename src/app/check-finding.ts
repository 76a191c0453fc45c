/** One line of `dropgate check`. */
export interface CheckFinding {
  readonly status: "ok" | "warning" | "problem";
  readonly what: string;
  /** What to do about it. */
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
