/** The console in a browser, page by page and job by job: what the tests of each change have no time for. */
import { defineConfig } from "vitest/config";
import { forAllTests } from "../../../vitest.config.ts";

export default defineConfig({
  test: { ...forAllTests, include: ["test/nightly/console/*.browser.ts"] },
});
