/** Words of the page of what waits. */

export const waitingWords = {
  title: "What waits longest",
  explained:
    "Files that are not decided yet, and deliveries that have not gone out, those that have waited longest first. A file that " +
    "comes is decided within a second as a rule.",
  company: "Company",
  all: "all",
  files: "Files",
  deliveries: "Deliveries",
  noFiles: "No file waits: each that came has been decided.",
  noDeliveries: "No delivery waits: all that was to go out has gone.",
  further: "No more wait.",
  head: {
    file: "File",
    delivery: "Delivery",
    age: "Waits for",
    since: "Since",
    to: "To",
    why: "Why, and what to do",
  },
  next: "It is about to be taken.",
  pausedBy: (by: string) => `Its target was paused by ${by}, since`,
  asFiles: "As a list of files, with filters",
  asDeliveries: "As a list of deliveries, with filters",
};
