import { setFlagsFromString } from "node:v8";

/**
 * From now on a thread has the young generation of its own `resourceLimits`, and collects its garbage for the first time when
 * its old objects take 16 MB. The launcher's limit of the young generation is that of the main thread, which answers requests;
 * V8 would give it to every thread, whatever its own limits say, and would let 128 MB of old objects come together in each.
 */
export function keepThreadHeapsSmall(): void {
  setFlagsFromString("--max-semi-space-size=0");
  setFlagsFromString("--initial-old-space-size=16");
}
