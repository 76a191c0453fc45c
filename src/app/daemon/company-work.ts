/** Endpoints that work for the companies of this node, as parts of the work of a company. */
import type { CompanyWork } from "../../store/cluster/ownership.ts";

interface OfCompanies {
  readonly name: string;
  begin(companyId: number): Promise<void>;
  /** Resolves when nothing of the company is in hand; after the loss of a company nothing more is begun by itself. */
  end(companyId: number): Promise<void>;
}

export function companyWorkOf(endpoint: OfCompanies): CompanyWork {
  return {
    name: endpoint.name,
    take: ({ companyId }) => endpoint.begin(companyId),
    leave: ({ companyId }) => endpoint.end(companyId),
  };
}
