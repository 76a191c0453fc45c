/** Words of the components that pages are made of. */
export const kitWords = {
  none: "–",
  /** Behind a time and its zone. */
  atStop: "at the stop",
  days: (count: number) => `${count} d`,
  hours: (count: number) => `${count} h`,
  minutes: (count: number) => `${count} min`,
  seconds: (count: number) => `${count} s`,
  milliseconds: (count: number) => `${count} ms`,
  before: (duration: string) => `${duration} before`,
  remedy: "What to do:",
  pages: "Pages of this list",
  firstPage: "Newest",
  previousPage: "Newer",
  nextPage: "Older",
  filter: "Filter",
  show: "Show",
  withoutFilter: "Without filter",
  reason: "Reason",
  reasonMissing: "Give a reason: it is what others find in the audit.",
  reasonTooLong: (longest: number) => `The reason has more than ${longest} characters: shorten it.`,
  reasonHint: "Why you do this; it is kept in the audit, at most 500 characters.",
};
