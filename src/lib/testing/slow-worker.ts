/** A thread for tests of its host: it loads when it is let, and does what it is told. `workerData`: Int32, see `slowAt`. */
import { parentPort, workerData } from "node:worker_threads";
import { memoryExitCode, tellLoaded } from "../threads/hosted-worker.ts";

/** How often it was let load, and how often it has. */
export const slowAt = { let: 0, loaded: 1 } as const;

const deeds: Readonly<Record<string, () => void>> = {
  load,
  spin() {
    for (;;);
  },
  throw() {
    throw new Error("it broke");
  },
  exit: () => process.exit(memoryExitCode),
  hoard() {
    const hoard: number[][] = [];
    for (;;) hoard.push(new Array(100_000).fill(1.5));
  },
  answer: () => parentPort?.postMessage("answer"),
};

function load(): void {
  const shared = new Int32Array(workerData as SharedArrayBuffer);
  const before = Atomics.load(shared, slowAt.loaded);
  Atomics.wait(shared, slowAt.let, before);
  Atomics.add(shared, slowAt.loaded, 1);
  tellLoaded();
}

if (parentPort !== null) {
  parentPort.on("message", (deed: string) => deeds[deed]?.());
  load();
}
