/**
 * All words of the console, in one catalogue: a file for each page, texts with values as functions. Another language is
 * another object of the type `Words`. Explanations and remedies of faults come from the catalogues of the commands.
 */
import { auditWords } from "./audit-words.ts";
import { actWords } from "./act-words.ts";
import { deliveriesWords } from "./deliveries-words.ts";
import { doneWords } from "./done-words.ts";
import { filesWords } from "./files-words.ts";
import { fileWords } from "./file-words.ts";
import { findWords } from "./find-words.ts";
import { docsWords, frameWords, keyWords } from "./frame-words.ts";
import { hostsWords, trialWords } from "./hosts-words.ts";
import { healthWords } from "./health-words.ts";
import { kitWords } from "./kit-words.ts";
import { moveWords } from "./move-words.ts";
import { foldersWords, remotesWords, retryFilesWords } from "./remotes-words.ts";
import { sessionWords } from "./session-words.ts";
import { loadWords } from "./load-words.ts";
import { pictureWords } from "./picture-words.ts";
import { notFoundWords, stateWords } from "./state-words.ts";
import { stopWords } from "./stop-words.ts";
import { todayWords } from "./today-words.ts";
import { usersWords } from "./users-words.ts";
import { waitingWords } from "./waiting-words.ts";

export const words = {
  /** As in the attribute `lang`. */
  language: "en",
  frame: frameWords,
  keys: keyWords,
  kit: kitWords,
  move: moveWords,
  files: filesWords,
  find: findWords,
  done: doneWords,
  session: sessionWords,
  states: stateWords,
  notFound: notFoundWords,
  file: fileWords,
  stop: stopWords,
  load: loadWords,
  pictures: pictureWords,
  hosts: hostsWords,
  trial: trialWords,
  today: todayWords,
  health: healthWords,
  users: usersWords,
  waiting: waitingWords,
  audit: auditWords,
  docs: docsWords,
  acts: actWords,
  deliveries: deliveriesWords,
  remotes: remotesWords,
  folders: foldersWords,
  retryFiles: retryFilesWords,
};
