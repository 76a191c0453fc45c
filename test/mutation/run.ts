/**
 * npm run test:mutation: changes the program in small ways, one at a time, and looks whether a test fails at each.
 *
 *   npm run test:mutation -- src/outbound                         one room, or a folder or file of it
 *   npm run test:mutation -- src/outbound --sample 80             80 of its changes, drawn at random
 *   npm run test:mutation -- src/outbound --sample 80 --seed 7    those that seed 7 draws
 *   npm run test:mutation                                         all rooms, the smallest first; takes hours
 *
 * Prints what no test saw, and keeps all of it in `reports/mutation`. Ends with 1 when the tests of a room see less than 80 %
 * of what they run through.
 */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { type Room, roomAt, rooms } from "./rooms.ts";
import { setSampleOfRun } from "./sample.ts";
import { unseenLines } from "./unseen-lines.ts";

const leastPercent = 80;

function endWithUsage(fault: string): never {
  const names = rooms.map(({ source }) => source).join(", ");
  process.stderr.write(
    `${fault}\nusage: npm run test:mutation -- [PATH]... [--sample N [--seed S]]; paths lie in ${names}\n`,
  );
  process.exit(2);
}

/** A whole number from 1; undefined when nothing is given. */
function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text === undefined ? undefined : Number(text);
  return endWithUsage(`--${option} is a whole number from 1, and not ${text}`);
}

function readArguments() {
  try {
    const options = { sample: { type: "string" }, seed: { type: "string" } } as const;
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return endWithUsage(String(error));
  }
}

const { values, positionals } = readArguments();
const size = wholeNumber("sample", values.sample);
const seed = wholeNumber("seed", values.seed) ?? randomInt(1, 1_000_000);
const chosen = positionals.map((path) => roomAt(path) ?? endWithUsage(`${path} lies in no room`));
const sampleText = size === undefined ? "" : `, a sample of ${size} drawn with seed ${seed}`;
if (size !== undefined) setSampleOfRun({ size, seed });

function optionsFor({ source }: Room) {
  return {
    mutate: source.endsWith(".ts")
      ? [source]
      : [`${source}/**/*.ts`, `!${source}/**/*.test.ts`, `!${source}/**/testing/**`],
    testRunner: "sampled-vitest",
    vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
    plugins: [
      "@stryker-mutator/vitest-runner",
      "./test/mutation/sampled-runner.ts",
      "./test/mutation/unseen-calls.ts",
    ],
    ignorers: ["unseen-calls"],
    // Each change is tried by the tests alone that run through it; what runs at import time would be tried by all.
    coverageAnalysis: "perTest" as const,
    ignoreStatic: true,
    concurrency: 1,
    timeoutMS: 30_000,
    tempDirName: ".stryker-tmp",
    ignorePatterns: ["dist", "dist-tools", "var", "bench/results", "reports", "docs", "coverage"],
    // There is no compiler in it that could read the project's settings, and none is needed.
    tsconfigFile: "test/mutation/no-tsconfig.json",
    reporters: ["progress-append-only", "json"],
    jsonReporter: { fileName: `reports/mutation/${source.replaceAll("/", "-")}.json` },
    allowConsoleColors: false,
  };
}

/** Tries the changes, prints what no test saw, and gives how much of what the tests run through they see, in percent. */
async function percentSeen(room: Room): Promise<number> {
  process.env["DROPGATE_MUTATION_ROOM"] = room.source;
  const results = await new Stryker(optionsFor(room)).runMutationTest();
  const count = (...statuses: readonly string[]) =>
    results.filter(({ status }) => statuses.includes(status)).length;
  const seen = count("Killed", "Timeout");
  const tried = seen + count("Survived");
  const percent = (100 * seen) / Math.max(1, tried);
  process.stdout.write(`${unseenLines(results).join("\n")}\n`);
  process.stdout.write(
    `${room.source}: ${percent.toFixed(1)} % of what its tests run through is seen (${seen} of ${tried}${sampleText})\n`,
  );
  return percent;
}

for (const room of chosen.length === 0 ? rooms : chosen)
  if ((await percentSeen(room)) < leastPercent) process.exitCode = 1;
