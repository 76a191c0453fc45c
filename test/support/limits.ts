/** Lint rule that the linter does not have: no file of the program, its tools, tests and benches is longer than 400 lines. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const maxLines = 400;

const folders = ["src", "tools", "test", "bench"];

function linesOf(path: string): number {
  return readFileSync(path, "utf8").split("\n").length - 1;
}

const tooLong = folders
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  )
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name, lines: linesOf(name) }))
  .filter(({ lines }) => lines > maxLines);

for (const { name, lines } of tooLong)
  console.error(`${name}: ${lines} lines, at most ${maxLines} are allowed`);
process.exitCode = tooLong.length > 0 ? 1 : 0;
