/** Words of the audit. */
import { counted } from "../../../../lib/counted.ts";

export const auditWords = {
  title: "Audit",
  explained:
    "Who did what, and who looked at the content of files; the newest first. Secrets are never written here.",
  none: "Nothing fits.",
  head: { time: "When", who: "Who", what: "What", about: "About", reason: "Why", change: "Before and after" },
  filter: {
    user: "User",
    kind: "What",
    allKinds: "Everything",
    subject: "About, as it is shown",
    day: "Day (UTC)",
  },
  csv: "As CSV",
  byProgram: "dropgate",
  from: (address: string) => `from ${address}`,
  before: "before",
  after: "after",
  unset: "not set",
  refusedBefore: (count: number) =>
    count === 0
      ? "none was refused before it"
      : `${counted(count, "sign-in")} under this name refused before it, since one succeeded or the program started`,
  /** By the kind of the entry, without its dot. */
  kinds: {
    fileRetry: "retried a file",
    contentSeen: "looked at the content of a file",
    deliveryRetry: "retried a delivery",
    deliveryResend: "sent a delivery again",
    deliveryGiveUp: "gave up a delivery",
    deliveriesRelease: "released held deliveries",
    targetRetry: "tried a target at once",
    targetPause: "paused a target",
    targetResume: "resumed a target",
    remotePause: "paused a remote",
    remoteResume: "resumed a remote",
    remotePoll: "polled a remote",
    exportAgain: "delivered an export again",
    banLift: "lifted a ban",
    companyAdd: "added a company",
    userAdd: "added a user",
    userRoles: "changed roles",
    userEnable: "let a user sign in again",
    userDisable: "disabled a user",
    userPassword: "set a password",
    userAddKey: "added a key",
    userRemoveKey: "removed a key",
    ledgerVerify: "had the ledger verified",
    configReload: "reloaded the configuration",
    signedIn: "signed in to the console",
    signedOut: "signed out of the console",
    signedOutEverywhere: "signed out everywhere",
    passwordChanged: "changed the own password",
  },
};
