/** States in a word, and what stands where there is nothing. */
import type { FileState } from "../../../../domain/files/file-state.ts";
import type { DeliveryState } from "../../../../domain/outbound/delivery-state.ts";

const file: Readonly<Record<FileState, string>> = {
  waiting: "waits",
  retry: "to be tried again",
  applied: "applied",
  refused: "refused",
  duplicate: "duplicate",
  superseded: "superseded",
};

const delivery: Readonly<Record<DeliveryState, string>> = {
  waiting: "waits",
  behind: "waits behind another",
  delivered: "delivered",
  dead: "given up after failures",
  dropped: "not sent",
};

export const stateWords = { file, delivery };

export const notFoundWords = {
  title: "Not found",
  file: "There is no such file, or it belongs to a company that you may not look at. Look for its name with Find.",
  stop: "There is no such stop, or it belongs to a company that you may not look at. Look for its number with Find.",
  load: "There is no such load, or it belongs to a company that you may not look at. Look for its number with Find.",
};
