/**
 * Imported loads that cannot be applied now, and those that wait for them: for one load and one stop the order is
 * absolute, all others go on. The numbers of a load whose text cannot be read are unknown, so that all later loads of
 * its company wait; a load on a damaged page never becomes readable, and blocks nothing.
 */
import type { Load } from "../../domain/load/load.ts";

/** What may have to wait for a load, or it for others. */
export interface LoadNumbers {
  readonly companyId: number;
  readonly loadNbr: string;
  readonly stopNbrs: readonly string[];
}

export function numbersOf(companyId: number, loadNbr: string, load: Load | undefined): LoadNumbers {
  return { companyId, loadNbr, stopNbrs: load?.stops?.map(({ stopNbr }) => stopNbr) ?? [] };
}

class CompanyNumbers {
  readonly loads = new Set<string>();
  readonly stops = new Set<string>();
  isAll = false;
}

/** Numbers of loads and stops, company by company. */
export class LoadNumberSet {
  readonly #companies = new Map<number, CompanyNumbers>();

  add({ companyId, loadNbr, stopNbrs }: LoadNumbers): void {
    const company = this.#of(companyId);
    company.loads.add(loadNbr);
    for (const stopNbr of stopNbrs) company.stops.add(stopNbr);
  }

  /** All numbers of the company. */
  addAll(companyId: number): void {
    this.#of(companyId).isAll = true;
  }

  has({ companyId, loadNbr, stopNbrs }: LoadNumbers): boolean {
    const company = this.#companies.get(companyId);
    if (company === undefined) return false;
    return company.isAll || company.loads.has(loadNbr) || stopNbrs.some((one) => company.stops.has(one));
  }

  clear(): void {
    this.#companies.clear();
  }

  #of(companyId: number): CompanyNumbers {
    const known = this.#companies.get(companyId);
    if (known !== undefined) return known;
    const made = new CompanyNumbers();
    this.#companies.set(companyId, made);
    return made;
  }
}
