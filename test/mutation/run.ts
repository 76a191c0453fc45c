/**
 * npm run test:mutation: changes the program in small ways, one at a time, and looks whether a test fails at each.
 *
 *   npm run test:mutation -- src/outbound             one room, or a folder or file of it
 *   npm run test:mutation                             all rooms, the smallest first; takes hours
 *
 * Prints what no test saw, and keeps all of it in `reports/mutation`. Ends with 1 when the tests of a room see less than 80 %
 * of what they run through.
 */
import { Stryker } from "@stryker-mutator/core";
import { type Room, roomAt, rooms } from "./rooms.ts";

const leastPercent = 80;

const paths = process.argv.slice(2);
const chosen = paths.length === 0 ? rooms : paths.map((path) => roomAt(path));
const known = chosen.filter((room) => room !== undefined);
if (known.length < chosen.length) {
  const names = rooms.map(({ source }) => source).join(", ");
  process.stderr.write(`usage: npm run test:mutation -- [PATH]...; paths lie in ${names}\n`);
  process.exit(2);
}

function fileNameOf({ source }: Room): string {
  return source.replaceAll("/", "-");
}

/** How much of what the tests run through they see, in percent. */
async function percentSeen(room: Room): Promise<number> {
  process.env["DROPGATE_MUTATION_ROOM"] = room.source;
  const { source } = room;
  const results = await new Stryker({
    mutate: source.endsWith(".ts")
      ? [source]
      : [`${source}/**/*.ts`, `!${source}/**/*.test.ts`, `!${source}/**/testing/**`],
    testRunner: "vitest",
    vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
    plugins: ["@stryker-mutator/vitest-runner", "./test/mutation/unseen-calls.ts"],
    ignorers: ["unseen-calls"],
    // Each change is tried by the tests alone that run through it; what runs at import time would be tried by all.
    coverageAnalysis: "perTest",
    ignoreStatic: true,
    concurrency: 1,
    timeoutMS: 30_000,
    tempDirName: ".stryker-tmp",
    ignorePatterns: ["dist", "dist-tools", "var", "bench/results", "reports", "docs", "coverage"],
    // There is no compiler in it that could read the project's settings, and none is needed.
    tsconfigFile: "test/mutation/no-tsconfig.json",
    reporters: ["clear-text", "progress-append-only", "json"],
    clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false },
    jsonReporter: { fileName: `reports/mutation/${fileNameOf(room)}.json` },
    allowConsoleColors: false,
  }).runMutationTest();
  const count = (...statuses: readonly string[]) =>
    results.filter(({ status }) => statuses.includes(status)).length;
  const seen = count("Killed", "Timeout");
  return (100 * seen) / Math.max(1, seen + count("Survived"));
}

for (const room of known) {
  const percent = await percentSeen(room);
  process.stdout.write(`${room.source}: ${percent.toFixed(1)} % of what its tests run through is seen\n`);
  if (percent < leastPercent) process.exitCode = 1;
}
