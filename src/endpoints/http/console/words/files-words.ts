/** Words of the page of files. */
import type { FileState } from "../../../../domain/files/file-state.ts";
import type { AskedState } from "../pages/files/files-view.ts";

const states: Readonly<Record<FileState, string>> = {
  waiting: "waits",
  retry: "to be tried again",
  applied: "applied",
  refused: "refused",
  superseded: "superseded",
  duplicate: "duplicate",
};

const askedStates: Readonly<Record<AskedState, string>> = {
  waiting: "waiting",
  applied: "applied",
  refused: "refused",
  superseded: "superseded",
  duplicate: "duplicate",
  pruned: "content removed for its age",
};

export const filesWords = {
  title: "Files",
  states,
  askedStates,
  /** What to do about an entry where no reason says it. */
  nextSteps: {
    waiting: "Look at its page, which tells what it waits for.",
    retry: "Nothing: it is taken up within a second.",
    duplicate: "Nothing: the same file came before.",
  } as Partial<Readonly<Record<FileState, string>>>,
  company: "Company",
  state: "State",
  reason: "Reason",
  channel: "Came",
  anyRemote: "from any remote",
  user: "User",
  name: "Name",
  nameHint: "* for any characters, ? for one",
  from: "From day (UTC)",
  to: "To day (UTC)",
  all: "all",
  columns: {
    name: "File",
    state: "State",
    receivedAt: "Received",
    from: "From",
    why: "Why, and what to do",
    size: "Size",
    choice: "Choose",
  },
  caption: "Files, the newest first",
  empty: "No file is of this filter. Take a part of the filter away, or look for the name with Find.",
  emptyPart: (time: string) => `No file of this filter was found among those since ${time}.`,
  emptyUpTo: (time: string) => `No file of this filter was found among the next newer ones, up to ${time}.`,
  searchedUpTo: (time: string) => `Looked for newer ones as far as ${time}; "Newer" goes on from there.`,
  searchedTo: (time: string) => `Looked for as far back as ${time}; "Look further back" goes on from there.`,
  count: {
    exact: (count: string) => `${count} files`,
    ever: (count: string) => `${count} files have come; the entries of the oldest are kept no longer`,
    moreThan: (count: string) => `more than ${count} files`,
  },
  csv: "As CSV",
  csvHint: (most: string) => `at most ${most} rows, from this page on`,
  stop: (stopNbr: string) => `Stop ${stopNbr}`,
  more: (count: number) => `and ${count} more`,
  chooseFile: (name: string) => `Choose ${name}`,
  retryChosen: "Try the chosen ones again …",
  retryAll: "Try all of this filter again …",
  retryHint: "What would become of them is shown first; nothing is changed before you agree.",
  faults: {
    day: "this is no day: write it as 2026-11-05",
    order: "the last day is before the first",
    state: "there is no such state",
    reason: "this is no reason code, such as 951",
  },
};
