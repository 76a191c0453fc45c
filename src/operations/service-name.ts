/** The `serviceName` of an import: `default`, or the name of a custom integration (decisions 2.2, 10). */
import { DropgateError } from "../lib/errors.ts";

/** Throws 908 for a name that no integration has. */
export function requireService(serviceName: string): void {
  if (serviceName === "default") return;
  const shown = serviceName.slice(0, 40);
  throw new DropgateError(
    "unknownService",
    `there is no integration ${shown}. Send the import with the serviceName default.`,
  );
}
