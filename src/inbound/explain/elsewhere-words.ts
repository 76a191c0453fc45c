/** What is known of a name besides files, stops and deliveries, as text for operators. */
import { isoTime } from "../../lib/iso-time.ts";
import type { Candidate, DocumentStory, RemoteFileStory, UntakenStory } from "./explain-elsewhere.ts";

/** A file that was taken from a remote, and may be seen there again. */
export function remoteFileLines({ company, remote, name, size, state, notedAt }: RemoteFileStory): string[] {
  const what =
    state === "seen"
      ? "It stays there, and is not taken again as long as it does not change."
      : "It is in inbound/ or in the ledger; then it is removed or moved there.";
  return [
    `${name}, company ${company}, of the remote ${remote}`,
    `  Fetched ${isoTime(notedAt)}, ${size} bytes. ${what}`,
  ];
}

/** Why a file of a remote is not taken. */
export function whyUntakenText({ why, remote, nextPollAt }: UntakenStory): string {
  const next = `the next poll is due ${isoTime(nextPollAt)}`;
  const atOnce = `\`dropgate remote retry ${remote}\` tries it at once`;
  switch (why.kind) {
    case "settling":
      return `It is not fetched yet: it has been the same since ${isoTime(why.unchangedSince)}, and is fetched when its size and time have not changed for settleMs of the remote; ${next}.`;
    case "behind":
      return `It waits there for ${why.before} of the same stop, which goes first; ${next}.`;
    case "failed":
      return `It could not be fetched (${why.attempts === 1 ? "tried once" : `tried ${why.attempts} times`}): ${why.message.replace(/\.$/, "")}. It rests until ${isoTime(why.triedAgainAt)}; ${atOnce}.`;
    case "leftAlone":
      return `It is left alone: ${why.message.replace(/\.$/, "")}.`;
    case "unfinished":
      return "Its name says that it is unfinished: it is left alone until its writer renames it.";
  }
}

/** A file that lies on a remote and is not taken. */
export function untakenLines(story: UntakenStory): string[] {
  const { company, remote, name, size } = story;
  const bytes = size === undefined ? "" : ` (${size} bytes)`;
  return [`${name}, company ${company}, lies on the remote ${remote}${bytes}`, `  ${whyUntakenText(story)}`];
}

const documentPresence = {
  there: "Its content is there",
  absent: "ITS CONTENT IS NOT THERE: restore it from a backup",
} as const;

/** A document that hosts read by its GUID. */
export function documentLines(story: DocumentStory): string[] {
  const { company, guid, name, size, sha256, createdAt, presence, path } = story;
  return [
    `Document ${guid}, company ${company}`,
    `  ${name ?? "Without a name"}, ${size} bytes, SHA-256 ${sha256}, came ${isoTime(createdAt)}.`,
    `  ${documentPresence[presence]}: ${path}.`,
  ];
}

/** Several names that a pattern stands for. */
export function candidateLines(pattern: string, candidates: readonly Candidate[]): string[] {
  return [
    `${pattern} may be any of these, the newest first:`,
    ...candidates.map(
      ({ at, name, company, what }) => `  ${isoTime(at)}  ${name}, company ${company}: ${what}`,
    ),
    `Ask for one of them by its name. \`dropgate files --name\` and \`dropgate deliveries --name\` list more, and narrow by --since, --until, --state and --company.`,
  ];
}
