import type { FileReason } from "../../app/admin/file-view.ts";
import type { StopChangeView } from "../../app/admin/stops/stop-change.ts";
import type { ValidatedFile } from "../../app/admin/validate-files.ts";
import { type CliCommand, type CommonOptions, exitCodes } from "../command-line.ts";

const verdicts: Readonly<Record<ValidatedFile["verdict"], string>> = {
  applied: "would be applied",
  refused: "would be refused",
  duplicate: "would be answered as a duplicate",
  superseded: "would be refused as superseded",
  valid: "is a valid document",
};

function reasonLine(file: string, { line, column, reasonCode, path, message }: FileReason): string {
  const place = line === undefined ? file : `${file}:${line}${column === undefined ? "" : `:${column}`}`;
  return `  ${place}: ${reasonCode}${path === undefined ? "" : ` ${path}`}: ${message}`;
}

const maxShown = 80;

function shown(value: unknown): string {
  if (value === undefined) return "(none)";
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown - 1)}…` : text;
}

function changeLines({ stopNbr, effect, statusBefore, statusAfter, fields }: StopChangeView): string[] {
  const isMoved = statusBefore !== null && statusBefore !== statusAfter;
  const status = isMoved ? `${statusBefore} → ${statusAfter ?? "none"}` : (statusAfter ?? "none");
  const words = effect === "none" ? "would stay as it is" : `would be ${effect}`;
  const nothing = effect === "updated" && fields.length === 0 ? ["    no field changes"] : [];
  return [
    `  stop ${stopNbr} ${words}; status ${status}`,
    ...fields.map(({ path, before, after }) => `    ${path}: ${shown(before)} → ${shown(after)}`),
    ...nothing,
  ];
}

/** First this very file, then the same document under another name. */
function duplicateLines({ first, underNewTime }: ValidatedFile): string[] {
  if (first === undefined || underNewTime === undefined) return [];
  const codes = [...new Set(first.reasons.map(({ reasonCode }) => reasonCode))].join(", ");
  const outcome = `${first.state} ${first.decidedAt ?? ""}`.trim();
  return [
    `  The same name and content is entry ${first.id}: ${outcome}${codes === "" ? "" : ` with ${codes}`}.`,
    `  Under a new time in its name it ${verdicts[underNewTime]}${underNewTime === "refused" ? ":" : ""}`,
  ];
}

function fileLines(validated: ValidatedFile): string[] {
  const { file, verdict, reasons, changes, note } = validated;
  return [
    `${file} ${verdicts[verdict]}`,
    ...duplicateLines(validated),
    ...(note === undefined ? [] : [`  ${note}`]),
    ...reasons.map((reason) => reasonLine(file, reason)),
    ...changes.flatMap(changeLines),
  ];
}

/** A duplicate is as good as the file that it repeats. */
function isGood({ verdict, first }: ValidatedFile): boolean {
  if (verdict === "duplicate") return first?.state === "applied";
  return verdict === "applied" || verdict === "valid";
}

/** `dropgate validate` */
export function declareValidate(program: CliCommand): void {
  program
    .declare("validate", "try files without applying them: faults, and what they would change")
    .withJson()
    .argument("<file...>", "stop files")
    .option("--company <code>", "the company whose files they are; needed when there are several")
    .addHelpText(
      "after",
      "\nEach file is checked by itself against the current state. Exit code 1 when one would not be applied,\nor is a duplicate of one that was not; 2 when one cannot be read.",
    )
    .onConfig(async (run, config, files: readonly string[], options: CommonOptions) => {
      const { validateFiles } = await import("../../app/admin/validate-files.ts");
      const validated = await validateFiles(config, files, options);
      run.printResult(options, validated, (all) => all.flatMap(fileLines));
      if (!validated.every(isGood)) run.exitCode = exitCodes.failure;
    });
}
