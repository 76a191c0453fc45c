/** The process that looks into folders which may be on a dead share (foreign-looks.ts): questions and answers are messages. */
import { directLooks } from "../../inbound/recovery/folder-looks.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import type { LookAnswer, LookQuestion } from "./foreign-looks.ts";

async function lookFor(question: LookQuestion): Promise<unknown> {
  switch (question.kind) {
    case "names":
      return await directLooks.namesIn(question.folder);
    case "file":
      return await directLooks.fileAt(question.folder, question.place);
    case "presence":
      return await directLooks.presenceOf(question.folder, question.path);
  }
}

async function answerTo(question: LookQuestion): Promise<LookAnswer> {
  try {
    return { kind: "found", found: await lookFor(question) };
  } catch (error) {
    return { kind: "failed", code: systemCodeOf(error) ?? messageOf(error) };
  }
}

process.on(
  "message",
  async ({ nbr, question }: { readonly nbr: number; readonly question: LookQuestion }) => {
    process.send?.({ nbr, answer: await answerTo(question) });
  },
);
