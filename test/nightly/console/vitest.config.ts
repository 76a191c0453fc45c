/** The console in a browser, page by page and job by job: what the tests of each change have no time for. */
import { defineConfig } from "vitest/config";
import everyChange from "../../../vitest.config.ts";

export default defineConfig({
  ...everyChange,
  test: { ...everyChange.test, include: ["test/nightly/console/*.browser.ts"] },
});
