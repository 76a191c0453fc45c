/** What a mutation run prints of a change that no test saw, or that could not be tried. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { MutantResult } from "@stryker-mutator/api/core";

const printed = new Set(["Survived", "RuntimeError"]);

function originalOf({ fileName, location: { start, end } }: MutantResult): string {
  const lines = readFileSync(fileName, "utf8")
    .split("\n")
    .slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return lines
    .map((line, at) =>
      line.slice(at === 0 ? start.column - 1 : 0, at === last ? end.column - 1 : undefined).trim(),
    )
    .join(" ");
}

export function unseenLines(results: readonly MutantResult[]): string[] {
  return results
    .filter(({ status }) => printed.has(status))
    .map((result) => {
      const { fileName, location, mutatorName, status, replacement, coveredBy } = result;
      const place = `${relative(process.cwd(), fileName)}:${location.start.line}:${location.start.column}`;
      const tests = `${coveredBy?.length ?? 0} tests run through it`;
      return `[${status}] ${place} ${mutatorName}, ${tests}\n- ${originalOf(result)}\n+ ${replacement}`;
    });
}
