/** The integrations of the configuration, for `dropgate integration list`. */
import type { Config } from "../../config/schema.ts";
import { formatIntegrationFaults, readIntegrations } from "../daemon/read-integrations.ts";

export interface IntegrationView {
  readonly name: string;
  readonly input: "json" | "xml";
  readonly file: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** Null: all. */
  readonly companies: readonly string[] | null;
  /** What is wrong with its expression; null when it compiles. */
  readonly fault: string | null;
}

/** In the order of the configuration. */
export async function listIntegrations(config: Config): Promise<readonly IntegrationView[]> {
  const views: IntegrationView[] = [];
  for (const [name, settings] of Object.entries(config.integrations)) {
    const read = await readIntegrations({ integrations: { [name]: settings } });
    const fault = read.kind === "faulty" ? formatIntegrationFaults(read.faults) : null;
    views.push({ name, ...settings, companies: settings.companies ?? null, fault });
  }
  return views;
}
