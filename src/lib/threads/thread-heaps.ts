import { setFlagsFromString } from "node:v8";

/**
 * From now on a thread has the young generation of its own `resourceLimits`. The launcher's limit is that of the main
 * thread, which answers requests; V8 would give it to every thread, whatever its own limits say.
 */
export function keepThreadHeapsSmall(): void {
  setFlagsFromString("--max-semi-space-size=0");
}
