/** Lint rule that the linter does not have: no source file is longer than 400 lines. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const maxLines = 400;

const tooLong = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => ({
    name: join("src", name),
    lines: readFileSync(join("src", name), "utf8").split("\n").length - 1,
  }))
  .filter(({ lines }) => lines > maxLines);

for (const { name, lines } of tooLong)
  console.error(`${name}: ${lines} lines, at most ${maxLines} are allowed`);
process.exitCode = tooLong.length > 0 ? 1 : 0;
