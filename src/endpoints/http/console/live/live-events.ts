/** Rows of pages as events, each made once for all who see it. */
import { eventText } from "./server-event.ts";
import type { CompanyStanding, Refusal, RefusalGroup, Standing } from "./standing.ts";

/** Whose companies somebody sees, and whether what belongs to all of them. */
export interface Sight {
  readonly companyIds: ReadonlySet<number>;
  readonly isOperator: boolean;
}

/** Rows of a table, as pages show them. */
export interface LiveRows {
  company(standing: CompanyStanding): string;
  refusal(refusal: Refusal): string;
  /** Of many; who may act can try them all again. */
  refusalGroup(group: RefusalGroup, mayAct: boolean): string;
  /** What needs a look, of the companies and, for operators, of the installation. */
  verdict(standing: Standing, sight: Sight): string;
}

/** A row and what it was made from. */
interface Row {
  readonly made: string;
  readonly text: string;
}

/** The same for all who see the same. */
export function sightKeyOf({ companyIds, isOperator }: Sight): string {
  return `${isOperator} ${[...companyIds].toSorted((one, other) => one - other).join(" ")}`;
}

export class LiveEvents {
  readonly #rows: LiveRows;
  /** By company, as they were told last. */
  readonly #told = new Map<number, Row>();

  constructor(rows: LiveRows) {
    this.#rows = rows;
  }

  refusal(refusal: Refusal): string {
    return eventText({ id: refusal.reference, event: "refusal", data: this.#rows.refusal(refusal) });
  }

  /** `last`: the newest refusal of the group. */
  refusalGroup(
    group: RefusalGroup,
    { last, mayAct }: { readonly last: Refusal; readonly mayAct: boolean },
  ): string {
    return eventText({ id: last.reference, event: "refusal", data: this.#rows.refusalGroup(group, mayAct) });
  }

  /** One event with all these rows; nothing without any. */
  companies(rows: readonly string[]): string {
    return rows.length === 0 ? "" : eventText({ event: "companies", data: rows.join("") });
  }

  /** All rows that somebody sees. */
  allCompanies({ companies }: Standing, { companyIds }: Sight): string {
    const own = [...companyIds].flatMap((id) => companies.get(id) ?? []);
    return this.companies(own.map((company) => this.#rows.company(company)));
  }

  /** The rows that differ from those told before, of the companies that anybody sees. */
  changed({ companies }: Standing, sights: readonly Sight[]): ReadonlyMap<number, string> {
    const seen = new Set(sights.flatMap(({ companyIds }) => [...companyIds]));
    const changed = new Map<number, string>();
    for (const id of seen) {
      const company = companies.get(id);
      if (company === undefined) continue;
      const made = JSON.stringify(company);
      if (this.#told.get(id)?.made === made) continue;
      const text = this.#rows.company(company);
      this.#told.set(id, { made, text });
      changed.set(id, text);
    }
    return changed;
  }

  /** By the key of the sight. */
  verdicts(standing: Standing, sights: readonly Sight[]): ReadonlyMap<string, string> {
    const verdicts = new Map<string, string>();
    for (const sight of sights) {
      const key = sightKeyOf(sight);
      if (!verdicts.has(key)) verdicts.set(key, this.#rows.verdict(standing, sight));
    }
    return verdicts;
  }

  /** Nobody has been told anything. */
  forget(): void {
    this.#told.clear();
  }
}
