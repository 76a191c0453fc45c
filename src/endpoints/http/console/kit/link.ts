/** Links, and the addresses of the console below its base path. */
import type { ConsoleServices } from "../console-services.ts";
import { type Content, type Html, html } from "./html.ts";

/** What goes into the query of an address; what is undefined or empty is left out. */
export type QueryFields = Readonly<Record<string, string | number | undefined>>;

/** The path with its query. */
export function withQuery(path: string, fields: QueryFields): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Addresses of the pages, as `href` takes them. */
export interface Addresses {
  /** Of any path below `/console`, such as `/files`; empty is page 1. */
  at(path: string, fields?: QueryFields): string;
  file(reference: string): string;
  delivery(guid: string): string;
  stop(companyCode: string, stopNbr: string): string;
  load(companyCode: string, loadNbr: string): string;
}

export function addresses(services: Pick<ConsoleServices, "basePath">): Addresses {
  const at = (path: string, fields: QueryFields = {}) =>
    withQuery(`${services.basePath()}/console${path}`, fields);
  const of = (...parts: readonly string[]) => at(`/${parts.map(encodeURIComponent).join("/")}`);
  return {
    at,
    file: (reference) => of("files", reference),
    delivery: (guid) => of("deliveries", guid),
    stop: (companyCode, stopNbr) => of("stops", companyCode, stopNbr),
    load: (companyCode, loadNbr) => of("loads", companyCode, loadNbr),
  };
}

export function link(href: string, content: Content): Html {
  return html`<a href="${href}">${content}</a>`;
}

/** A link that looks like a button: to what is done often. */
export function buttonLink(href: string, content: Content): Html {
  return html`<a class="button" href="${href}">${content}</a>`;
}
