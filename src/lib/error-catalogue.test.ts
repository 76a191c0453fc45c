import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorCatalogue } from "./errors.ts";

const text = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
const rows = text
  .split("\n")
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()));

describe("docs/errors.md", () => {
  it("lists every entry of the catalogue with its number, status, retry and meaning, in order, and nothing else", () => {
    const documented = rows.map(([, reason, name, status, retry, meaning]) => [
      reason,
      name,
      status,
      retry,
      meaning,
    ]);
    const known = Object.entries(errorCatalogue).map(
      ([code, { reasonCode, httpStatus, isRetryable, meaning }]) => [
        ...[String(reasonCode), `\`${code}\``, String(httpStatus), isRetryable ? "yes" : "no", meaning],
      ],
    );
    expect(documented).toEqual(known);
  });

  it("says for each what to do", () => {
    for (const row of rows) expect(row[6], row[2]).toMatch(/^.{15,}[.]$/);
  });
});
