/** Imports business partners, all or nothing (interface "Business partner", decisions 2.2). */
import { type BusinessPartner, validateBusinessPartner } from "../domain/business-partner.ts";
import { isSameCompanyCode } from "../domain/company-code.ts";
import { maxLengthOf } from "../domain/field-limits.ts";
import type { Clock } from "../lib/clock.ts";
import { type Fault, maxFaults } from "../lib/errors.ts";
import type { Store } from "../store/database.ts";
import type { Transaction } from "../store/group-commit.ts";
import { findPartner, savePartner } from "../store/partners.ts";

/** Most business partners of one import, when the caller names no other number. */
export const defaultMaxPartners = 5_000;

export interface BusinessPartnersDeps {
  readonly store: Pick<Store, "write">;
  readonly clock: Clock;
}

export interface BusinessPartnersImport {
  readonly companyId: number;
  /** The code in the request's path. */
  readonly companyCode: string;
  /** The request's body as parsed JSON. */
  readonly body: unknown;
  readonly maxPartners?: number;
}

export type BusinessPartnersOutcome =
  | { readonly kind: "imported"; readonly created: number; readonly updated: number }
  /** Nothing was written. At most 50 faults. */
  | { readonly kind: "refused"; readonly faults: readonly Fault[] };

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function faultOfCompany(found: unknown, expected: string): Fault | undefined {
  const path = "companyCode";
  if (found === undefined || found === null || found === "") {
    return {
      code: "missing",
      path,
      message: "companyCode is missing. Send the code of the company in the path.",
    };
  }
  if (typeof found !== "string") {
    return {
      code: "wrongType",
      path,
      message: "companyCode is not text. Send the code of the company in the path.",
    };
  }
  const maximum = maxLengthOf("companyCode");
  if (found.length > maximum) {
    const message = `companyCode is ${found.length} characters long, more than its maximum of ${maximum}. Shorten it.`;
    return { code: "tooLong", path, message };
  }
  if (isSameCompanyCode(found, expected)) return undefined;
  const message = `companyCode is ${found}, but the path names ${expected}. Send the same code in both.`;
  return { code: "companyDiffers", path, message };
}

function faultOfList(list: unknown, maxPartners: number): Fault | undefined {
  const path = "businessPartners";
  if (list === undefined || list === null) {
    return {
      code: "emptyList",
      path,
      message: "businessPartners is missing. Send a list of business partners.",
    };
  }
  if (!Array.isArray(list)) {
    return {
      code: "wrongType",
      path,
      message: "businessPartners is not a list. Send a list of business partners.",
    };
  }
  if (list.length === 0) {
    return { code: "emptyList", path, message: "businessPartners is empty. Send at least one entry." };
  }
  if (list.length <= maxPartners) return undefined;
  const message = `businessPartners has ${list.length} entries, more than the limit of ${maxPartners}. Send them in several requests.`;
  return { code: "tooLarge", path, message };
}

function faultsOfPartners(list: readonly unknown[]): readonly Fault[] {
  const faults: Fault[] = [];
  for (const [index, partner] of list.entries()) {
    faults.push(...validateBusinessPartner(partner, `businessPartners[${index}]`));
    if (faults.length >= maxFaults) break;
  }
  return faults;
}

type Reading =
  | { readonly kind: "read"; readonly partners: readonly BusinessPartner[] }
  | { readonly kind: "refused"; readonly faults: readonly Fault[] };

function readImport(input: BusinessPartnersImport): Reading {
  const { body, companyCode, maxPartners = defaultMaxPartners } = input;
  if (!isObject(body)) {
    const message = "the body is not an object. Send an object with companyCode and businessPartners.";
    return { kind: "refused", faults: [{ code: "wrongType", message }] };
  }
  const list = body["businessPartners"];
  const whole = [faultOfCompany(body["companyCode"], companyCode), faultOfList(list, maxPartners)];
  const faults = whole.filter((fault) => fault !== undefined);
  if (!Array.isArray(list) || faults.some(({ code }) => code === "tooLarge"))
    return { kind: "refused", faults };
  faults.push(...faultsOfPartners(list));
  if (faults.length > 0) return { kind: "refused", faults: faults.slice(0, maxFaults) };
  return { kind: "read", partners: list as readonly BusinessPartner[] };
}

/** In the order of the request: of two entries with the same code the later one stays. */
async function writePartners(
  tx: Transaction,
  entry: { companyId: number; partners: readonly BusinessPartner[]; now: number },
): Promise<BusinessPartnersOutcome> {
  const { companyId, now } = entry;
  let created = 0;
  for (const partner of entry.partners) {
    if ((await findPartner(tx, companyId, partner.partnerCode)) === undefined) created += 1;
    await savePartner(tx, { companyId, partner, now });
  }
  return { kind: "imported", created, updated: entry.partners.length - created };
}

/** Creates or updates the partners of the request; one faulty entry refuses all of it. */
export async function importBusinessPartners(
  deps: BusinessPartnersDeps,
  input: BusinessPartnersImport,
): Promise<BusinessPartnersOutcome> {
  const reading = readImport(input);
  if (reading.kind === "refused") return reading;
  const { companyId } = input;
  return await deps.store.write((tx) =>
    writePartners(tx, { companyId, partners: reading.partners, now: deps.clock.now() }),
  );
}
