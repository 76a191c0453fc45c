/** Words of the page of remotes and folders, and of retries of many files. */
export const remotesWords = {
  title: "Remotes and folders",
  remotes: "Remotes",
  folders: "Drop folders",
  foldersCaption: "Folders that are scanned beside the companies' own inbound/",
  noFolders:
    "None: companies.<CODE>.folders of the configuration has them. Each company's own inbound/ is always scanned.",
  noRemotes:
    "None: companies.<CODE>.remotes of the configuration has the servers that files are fetched from.",
  company: "Company",
  folder: "Folder",
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
