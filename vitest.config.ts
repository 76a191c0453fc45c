import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Most of the time is spent waiting for servers, clients and deadlines: one worker would leave the machine idle.
    maxWorkers: 2,
    globalSetup: ["test/support/global-setup.ts"],
  },
});
