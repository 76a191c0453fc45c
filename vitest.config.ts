import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "tools/**/*.test.ts", "test/**/*.test.ts"],
    // Bounds for what hangs, and not for what is slow: a busy machine or a slow disk fails no test.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 90_000, interval: 50 } },
    pool: "forks",
    // Most of the time is spent waiting for servers, clients and deadlines: one worker would leave the machine idle.
    maxWorkers: 2,
    setupFiles: ["test/support/check-units.ts"],
  },
});
