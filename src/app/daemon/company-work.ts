/** Endpoints that work for the companies of this node, as parts of the work of a company. */
import type { CompanyWork } from "../../store/cluster/ownership.ts";

interface OfCompanies {
  readonly name: string;
  begin(companyId: number): Promise<void>;
  /**
   * Resolves when nothing of the company is in hand; after the loss of a company nothing more is begun by itself. After the
   * deadline it does not wait for shares and servers that do not answer.
   */
  end(companyId: number, deadline: AbortSignal): Promise<void>;
}

export function companyWorkOf(endpoint: OfCompanies): CompanyWork {
  return {
    name: endpoint.name,
    take: ({ companyId }) => endpoint.begin(companyId),
    leave: ({ companyId }, _how, deadline) => endpoint.end(companyId, deadline),
  };
}
