/** The custom integrations in force. Bodies are mapped with them in processes (`MappingPool`). */
import { isSameCompanyCode } from "../domain/users/company-code.ts";
import { DropgateError } from "../lib/errors.ts";
import type { Service } from "../lib/service.ts";
import type { Integration, MappingRequest } from "./integration.ts";
import { MappingPool, type MappingPoolOptions } from "./mapping-pool.ts";

export interface IntegrationsOptions extends MappingPoolOptions {
  readonly integrations: ReadonlyMap<string, Integration>;
}

/** They map from their start on. */
export class Integrations implements Service {
  readonly name = "integrations";
  readonly #pool: MappingPool;
  #integrations: ReadonlyMap<string, Integration>;

  constructor({ integrations, ...pool }: IntegrationsOptions) {
    this.#integrations = integrations;
    this.#pool = new MappingPool(pool);
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.configure(this.#integrations);
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.#pool.stop(deadline);
  }

  /** Replaces the integrations; a body in hand keeps the old one. */
  configure(integrations: ReadonlyMap<string, Integration>): void {
    this.#integrations = integrations;
    if (integrations.size > 0) this.#pool.prepare();
  }

  /** The integration of that name, if the company may use it. */
  find(serviceName: string, companyCode: string): Integration | undefined {
    const found = this.#integrations.get(serviceName);
    const { companies } = found ?? {};
    const isOpen = companies?.some((code) => isSameCompanyCode(code, companyCode)) ?? true;
    return isOpen ? found : undefined;
  }

  /**
   * The document that the integration makes of a body. Throws `DropgateError`: 908 for an unknown name, what is wrong with
   * the body, 902 when the expression fails on it, 909 over a limit, 999 while stopping; and whatever the signal's reason is.
   */
  async map(request: MappingRequest, signal?: AbortSignal): Promise<unknown> {
    return JSON.parse(await this.mapToText(request, signal));
  }

  /** The same as JSON text. */
  async mapToText(request: MappingRequest, signal?: AbortSignal): Promise<string> {
    const { serviceName, companyCode } = request;
    const integration = this.find(serviceName, companyCode);
    if (integration === undefined)
      throw new DropgateError("unknownService", `there is no integration ${serviceName.slice(0, 40)}.`);
    const { expression, input, timeoutMs, maxOutputBytes } = integration;
    const job = { ...request, integration: { expression, input, timeoutMs, maxOutputBytes } };
    const outcome = await this.#pool.run(job, signal);
    if (outcome.kind === "mapped") return outcome.text;
    const [first] = outcome.faults;
    if (first === undefined) throw new Error("a body was refused without a fault");
    throw new DropgateError(first.code, first.message, { faults: outcome.faults });
  }
}
