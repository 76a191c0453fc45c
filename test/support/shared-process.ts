/**
 * Files of tests share processes. Each finds its process as the first one found it; what another has left, faked or changed
 * fails the next, with the name of who did it.
 */
import { expect } from "vitest";

/** Of the runner itself, or set anew for each file by `check-units.ts`. */
const mayChange = /^(?:VITEST|DROPGATE_CHECK_UNITS$)/;

function environment(): string {
  const entries = Object.entries(process.env).filter(([name]) => !mayChange.test(name));
  return JSON.stringify(entries.toSorted());
}

const look = () => ({
  setTimeout,
  setInterval,
  setImmediate,
  Date,
  fetch,
  nextTick: process.nextTick,
  "performance.now": performance.now,
  "the environment": environment(),
  "the working folder": process.cwd(),
  "the user": process.getuid?.(),
});

interface SharedProcess {
  found: ReturnType<typeof look>;
  lastFile: string | undefined;
}

const { testPath } = expect.getState();
const keeper = globalThis as { dropgateTests?: SharedProcess };
keeper.dropgateTests ??= { found: look(), lastFile: undefined };
const { found, lastFile } = keeper.dropgateTests;
keeper.dropgateTests.lastFile = testPath;

const left = Object.entries(look()).filter(([name, value]) => value !== found[name as keyof typeof found]);
if (left.length > 0) {
  const names = left.map(([name]) => name).join(", ");
  // Told once, of the file that did it.
  keeper.dropgateTests.found = look();
  throw new Error(`${lastFile} left ${names} changed: undo it after the test (onTestFinished)`);
}
