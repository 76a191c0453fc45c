/** Whose move it is: ours or theirs, as pages say it of each fault. */
import type { Move } from "../../../../domain/outbound/whose-move.ts";

const moves: Readonly<Record<Move, string>> = {
  host: "theirs: the host that sends the files",
  administrator: "ours: somebody who administers this installation",
  partner: "theirs: whoever runs that server, unless something has been changed here",
  nobody: "nobody's: it ends by itself, or nothing is lost",
};

export const moveWords = {
  title: "Whose move:",
  moves,
  /** In a list, where there is room for a word or two. */
  short: {
    host: "the host's move",
    administrator: "our move",
    partner: "the partner's move",
    nobody: "nobody's move",
  } as const satisfies Readonly<Record<Move, string>>,
};
