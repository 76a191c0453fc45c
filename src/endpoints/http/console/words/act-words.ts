/** What acts say of themselves: why something was not done, and who did it before. */

const pastOf: Readonly<Record<string, string>> = {
  "file.retry": "was retried",
  "delivery.retry": "was retried",
  "delivery.resend": "was sent again",
  "delivery.giveUp": "was given up",
  "deliveries.release": "was released",
  "target.retry": "was retried",
  "target.pause": "was paused",
  "target.resume": "was resumed",
  "remote.pause": "was paused",
  "remote.resume": "was resumed",
  "remote.poll": "was polled",
  "export.again": "was delivered again",
  "ban.lift": "was lifted",
  "company.add": "was added",
  "user.add": "was added",
  "user.roles": "got other roles",
  "user.enable": "was enabled",
  "user.disable": "was disabled",
  "user.password": "got another password",
  "user.addKey": "got a key",
  "user.removeKey": "lost a key",
  "ledger.verify": "was begun",
};

export const actWords = {
  mayNotAct: (role: string) =>
    `this needs the role ${role} in that company: ask somebody who has it, or an administrator to give it to you`,
  mayNotOperate:
    "this concerns all companies: it needs a user that is named in console.operators of the configuration",
  notDone: "Nothing was done:",
  back: "Back, without doing anything",
  notThere: "there is no such thing, or it belongs to a company that you may not act for",
  mayBeMore: (count: number) =>
    `There may be more than these ${count}, the newest that were found: do these, and ask for the rest after them.`,
  tooMany: (most: number) => `at most ${most} are done at once: choose fewer`,
  /** `time` is ISO, UTC. */
  doneBy: ({ kind, name, time }: { kind: string; name: string; time: string }) =>
    `it ${pastOf[kind] ?? "was changed"} by ${name} at ${time}`,
  isState: (state: string) => `it is ${state} by now: look at it again`,
  changedSince: (time: string) => `it has changed at ${time}, after you looked at it: look at it again`,
  delivery: {
    deliveredMessage: "it was delivered: a message is not sent twice",
    delivered: "it was delivered: send it again instead",
    dropped: "it was dropped: only dead ones are tried again, and those that were given up",
    isTriedAnyway: (state: string) => `it is ${state}: it is tried without being asked for`,
    noMessageTwice: "it is a message: no customer gets one twice",
    deadInstead: "it is dead: try it again instead",
    notDelivered: (state: string) => `it is ${state}: it has not been delivered yet`,
    hasIt: "it is delivered: the target has it",
    droppedBefore: "it was dropped before",
  },
  release: { notHeld: "deliveries are not held: they go out" },
  pause: {
    notPaused: "it is not paused",
    isPaused: (name: string, time: string) => `it is paused by ${name} since ${time}`,
    resumeFirst: (name: string, time: string) =>
      `it is paused by ${name} since ${time}: end the pause, and it is polled by its schedule`,
  },
  export: {
    forgotten: (time: string) => `it was made at ${time}: what it was made of is kept no longer`,
    notConfigured: "this export is not in the configuration any more",
  },
  hasCompany: (code: string) =>
    `there is a company ${code} already: codes are compared without regard to case`,
  users: {
    noSuchRole: (all: string) => `there is no such role: use some of ${all}`,
    noRole: "a user needs a role: choose one at least",
    hasKey: "the user has this key already",
  },
  ban: { ended: "it is not banned any more" },
} as const;
