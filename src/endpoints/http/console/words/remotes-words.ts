/** Words of the page of remotes and folders, and of retries of many files. */
export const remotesWords = {
  title: "Remotes and folders",
  fetched: "Files that came by it",
  remotes: "Remotes",
  noRemotes:
    "None: companies.<CODE>.remotes of the configuration has the servers that files are fetched from.",
  company: "Company",
  server: "Server",
  lastRound: "Last round",
  lastSuccess: "Last round without a fault",
  next: "Next round",
  nextUnknown: "by its schedule",
  asked: "Asked for; it begins at once.",
  failed: (times: number) => `${times === 1 ? "The last round has" : `The last ${times} rounds have`} failed`,
  rests: "It rests until",
  fine: "Polled without a fault",
  fresh: "Not polled yet",
  failing: "Failing",
  paused: "Paused by hand",
  waiting: "Asked for",
  pausedBy: (by: string) => `Paused by ${by}`,
  resumeRemedy: "Resume it when files may be fetched again: nothing else ends this pause.",
  files: "Files that lie there and are not taken",
  filesCaption: (name: string) => `Files on ${name} that are not taken, and why`,
  noFiles: "None that the daemon has seen.",
  file: "File",
  size: "Size",
  why: "Why",
  more: (count: number) => `There are ${count} more.`,
  poll: {
    title: (name: string) => `Poll the remote ${name} now`,
    label: "Poll now",
    explanation: "Its pause after faults ends, and those of its files; a round begins within a second.",
  },
  pause: {
    title: (name: string) => `Pause the remote ${name}`,
    label: "Pause",
    explanation:
      "No round begins until somebody resumes it; one that is under way ends. Files stay on the server.",
  },
  resume: {
    title: (name: string) => `Resume the remote ${name}`,
    label: "Resume",
    explanation: "It is polled by its schedule again; the files that are there are fetched.",
  },
};

export const foldersWords = {
  title: "Folders",
  explained:
    "Each company's own inbound/, and those that companies.<CODE>.folders of the configuration has besides. What is whole is taken; " +
    "what stays is told below.",
  caption: "Folders that are scanned for files",
  none: "You may look at no company, so no folder is shown.",
  head: {
    folder: "Folder",
    company: "Company",
    state: "State",
    lookedAt: "Scanned last",
    staying: "Staying",
  },
  every: (pause: string) => `every ${pause}`,
  states: {
    fine: "Scanned",
    fresh: "Not scanned yet",
    faulty: "Cannot be used",
    silent: "Does not answer",
    full: "No room",
  },
  since: "since",
  fault: (systemCode: string) => `The system refuses it: ${systemCode}.`,
  silent: "A scan has waited for an answer since",
  silentRemedy:
    "See whether its disk or share is mounted and whether its server runs. Its files are taken as soon as it answers.",
  full: "Files stay where they are:",
  files: "What lies there and is not taken",
  filesCaption: "Files in folders that are not taken, and why",
  noFiles: "Nothing: whatever is whole was taken.",
  more: (count: number) => `${count} more are not listed.`,
  fileHead: { file: "File", folder: "Folder", since: "Since", why: "Why, and what to do" },
  failed: (systemCode: string) =>
    `It cannot be read or removed, and is tried again. The system refuses it: ${systemCode}.`,
  incomplete: (isEmpty: boolean) => (isEmpty ? "It is empty." : "It ends in the middle."),
  refusedAt: "Unless it changes, it is refused at",
  incompleteRemedy: "Let its writer finish it, or remove it: later files of its stop wait for it.",
  changing: "It is still written to.",
  behind: (name: string) => `It waits for ${name} of the same stop, which goes first.`,
  unfinished: "Its name says that it is unfinished.",
  unfinishedRemedy:
    "Its writer renames it when it is whole. If nobody does: send it again under its final name, and remove this one.",
  noFile: "It is no file that can be taken.",
};

export const retryFilesWords = {
  title: "Retry files",
  label: "Retry these files",
  explanation:
    "Each is decided about once more, in its place in the order, by the rules that hold now. Its receipt is written anew.",
  caption: "What would become of each, by itself, as things are now",
  columns: { file: "File", now: "Now", would: "Would be", why: "Why, or what changes" },
  would: {
    applied: "Applied",
    refused: "Refused again",
    duplicate: "A duplicate",
    superseded: "Superseded again",
  },
  effects: { created: "created", updated: "changed", deleted: "deleted", none: "unchanged" },
  stop: (stopNbr: string, effect: string, fields: number) =>
    `stop ${stopNbr}: ${effect}${fields === 0 ? "" : fields === 1 ? ", one field" : `, ${fields} fields`}`,
  summary: (applied: number, refused: number, impossible: number) =>
    `${applied} would be applied, ${refused} refused again, ${impossible} cannot be tried again.`,
  notTried: (count: number) =>
    `What would become of ${count} more was not tried out: only the first are, as that takes time.`,
  none: "Nothing is chosen, or nothing of it can be tried again: go back and choose.",
  back: "Files",
};
