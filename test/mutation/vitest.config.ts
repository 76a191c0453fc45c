/** The tests of one room, in a process that is kept; `run.ts` says which. */
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { forAllTests } from "../../vitest.config.ts";
import { KeptProcess } from "./kept-process.ts";
import { roomAt } from "./rooms.ts";

const room = roomAt(process.env["DROPGATE_MUTATION_ROOM"] ?? "");
const include = (room?.tests ?? []).map((path) => (path.endsWith("/") ? `${path}**/*.test.ts` : path));

/** Those beside the code first, and of these the quick ones: the first test that fails ends the run. */
class QuickOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const msOf = (file: TestSpecification) => this.ctx.cache.getTestSpecificationResult(file)?.duration ?? 0;
    const isFar = ({ moduleId }: TestSpecification) => (moduleId.includes("/src/") ? 0 : 1);
    return [...files].sort((one, other) => isFar(one) - isFar(other) || msOf(one) - msOf(other));
  }
}

export default defineConfig({
  test: {
    ...forAllTests,
    include,
    teardownTimeout: 1_000,
    isolate: false,
    sequence: { sequencer: QuickOnesFirst },
    setupFiles: [...forAllTests.setupFiles, "test/mutation/report-left-over.ts"],
  },
  plugins: [
    {
      name: "kept-process",
      // Stryker names a pool of its own on what is the command line of vitest, and that goes before this file.
      configureVitest({ project }) {
        project.config.pool = "kept-process";
        project.config.poolRunner = {
          name: "kept-process",
          createPoolWorker: (options) => new KeptProcess(options),
        };
      },
    },
  ],
});
