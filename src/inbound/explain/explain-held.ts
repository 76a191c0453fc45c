/** Why a waiting file does not go on, as the running daemon knows it, as text with its remedy. */
import type { StallReason } from "../lanes/waiting-file.ts";
import type { HeldFile, HeldInDetail } from "../lanes/held-files.ts";
import { storeRemedies } from "../../lib/store-error.ts";
import { waitText } from "../../lib/wait-text.ts";
import { type Naming, operatorNaming } from "./naming.ts";

const remedies: Readonly<Record<StallReason, string>> = {
  unreadable:
    "give the user of the daemon the right to read it, or see to its disk; after inbound.giveUpAfterMs it is refused",
  incomplete: "let its writer finish it; when it has not changed for inbound.incompleteGraceMs it is refused",
  machine:
    "raise the number of open files (LimitNOFILE) or the memory that the daemon may have; it is tried until then",
  store: `${storeRemedies.unavailable}; it is tried until then`,
  internal: "see the log for this entry; at the third time the file is refused",
};

function heldText({ reason, message, forMs }: HeldFile, naming: Naming): string {
  return `It is held since ${waitText(forMs)} (${reason}: ${naming.message(message)}). What to do: ${remedies[reason]}.`;
}

type Behind = HeldInDetail["keptBack"][number]["behind"];

function behindText(company: HeldInDetail, behind: Behind, naming: Naming): string {
  const { name, id } = behind;
  const entry = id === undefined ? "a file that is seen in a folder and not taken yet" : naming.entry(id);
  const first = id === undefined ? undefined : company.files.find((file) => file.id === id);
  const why =
    first === undefined
      ? ""
      : `, which is held since ${waitText(first.forMs)} (${first.reason}: ${naming.message(first.message)}). What to do: ${remedies[first.reason]}`;
  return `It waits for ${name} (${entry}) of one of its stops${why}.`;
}

/** Nothing for a file that goes on as soon as it is its turn. */
export function whyHeld(
  company: HeldInDetail | undefined,
  id: number,
  naming = operatorNaming,
): readonly string[] {
  if (company === undefined) return [];
  const { halt } = company;
  const halted =
    halt === undefined
      ? []
      : [
          `Nothing of company ${company.company} can be decided since ${waitText(halt.forMs)}, and all its files wait: ${naming.message(halt.message)}. What to do: ${storeRemedies.unavailable}.`,
        ];
  const held = company.files.find((file) => file.id === id);
  const kept = company.keptBack.find((file) => file.id === id);
  return [
    ...halted,
    ...(held === undefined ? [] : [heldText(held, naming)]),
    ...(kept === undefined ? [] : [behindText(company, kept.behind, naming)]),
  ];
}
