/** The tree that a client sees: a folder for each company, left out when there is only one, with the folders of the company. */
import { componentsOf } from "../client-path.ts";
import { denied, type ExchangeAttributes, noSuchFile } from "../exchange-session.ts";
import type { SessionCompany } from "../exchange-deps.ts";
import { type FolderName, isFolderName } from "./folder-rights.ts";

/** What a path means. */
export type Place =
  | { readonly kind: "root" }
  | { readonly kind: "company"; readonly company: SessionCompany }
  | Inside;

/** A folder of a company, or what lies below it. */
export interface Inside {
  readonly kind: "folder";
  readonly company: SessionCompany;
  readonly folder: FolderName;
  readonly rest: readonly string[];
}

export class ClientTree {
  readonly #companies: readonly SessionCompany[];

  constructor(companies: readonly SessionCompany[]) {
    this.#companies = companies;
  }

  get companyCodes(): readonly string[] {
    return this.#companies.map(({ code }) => code);
  }

  /** The absolute path, with codes of companies as they were registered. Throws `badName`. */
  realPath(path: string): string {
    const components = componentsOf(path);
    const first = components[0];
    if (this.#companies.length > 1 && first !== undefined)
      components[0] = this.#companyOf(first)?.code ?? first;
    return `/${components.join("/")}`;
  }

  find(path: string): Place | undefined {
    const components = componentsOf(path);
    const isSingle = this.#companies.length === 1;
    const [code, ...below] = isSingle ? [this.#companies[0]?.code ?? "", ...components] : components;
    if (code === undefined) return { kind: "root" };
    const company = this.#companyOf(code);
    if (company === undefined) return undefined;
    const [folder, ...rest] = below;
    if (folder === undefined) return { kind: "company", company };
    if (!isFolderName(folder)) return undefined;
    return { kind: "folder", company, folder, rest };
  }

  /** Throws `noSuchFile`. */
  at(path: string): Place {
    const place = this.find(path);
    if (place === undefined) throw noSuchFile();
    return place;
  }

  /** Throws `permissionDenied` with the text `otherwise`. */
  inside(path: string, otherwise: string): Inside {
    const place = this.find(path);
    if (place?.kind === "folder") return place;
    throw denied(otherwise);
  }

  #companyOf(code: string): SessionCompany | undefined {
    return this.#companies.find((company) => company.code.toLowerCase() === code.toLowerCase());
  }
}

/** Of the root and of the folders of companies, which are on no disk. */
export function virtualFolder(nowMs: number): ExchangeAttributes {
  const nowSeconds = Math.floor(nowMs / 1000);
  return {
    isDirectory: true,
    size: 0,
    mode: 0o750,
    modifiedSeconds: nowSeconds,
    accessedSeconds: nowSeconds,
  };
}
