/**
 * The shape of a load in the legacy JSON retrieval (specification/legacy-services.md#load): in a stop's `loadId`, and
 * by itself.
 */
import type { LoadAssignment, LoadHeader } from "../../domain/load/load.ts";
import { readCompany } from "../../store/accounts/companies.ts";
import type { Reader } from "../../store/database/database.ts";
import { countStopsOfLoads, type StoredLoad } from "../../store/stops/load-queries.ts";
import { type FieldTree, leaves, legacyDateTime, numberOf } from "./legacy-shape.ts";

/** The company that asks. */
export interface LegacyCompany {
  readonly companyId: number;
  /** What numbers of rows are shown as; themselves when it is not given. */
  readonly shown?: ShownNumbers;
}

/** The numbers of rows count what all companies do: each company is shown others. */
export interface ShownNumbers {
  load(id: number): number;
  company(id: number): number;
}

/** The company as results show it; one without a name has its code there. */
async function legacyCompany(db: Reader, { companyId, shown }: LegacyCompany) {
  const { code, profile } = await readCompany(db, companyId);
  const { name: companyName = code, addr1: address1, addr2: address2, city, state, zip } = profile;
  const shownId = shown?.company(companyId) ?? companyId;
  return { companyId: shownId, companyName, address1, address2, city, state, zip };
}

type ShownCompany = Awaited<ReturnType<typeof legacyCompany>>;

function valued(value: string | number | undefined) {
  const number = numberOf(value);
  return number === undefined ? undefined : { value: number };
}

interface HeaderContext {
  readonly company: ShownCompany;
  readonly loadId: number;
  readonly totalStops: number;
}

function headerOf(stored: StoredLoad, { company, loadId, totalStops }: HeaderContext) {
  const header = JSON.parse(stored.body) as LoadHeader;
  const driver = JSON.parse(stored.driver) as LoadAssignment;
  return {
    loadId,
    loadNbr: stored.loadNbr,
    status: String(stored.status),
    origin: header.origin,
    originName: header.originName,
    originAddr1: header.originAddr1,
    originAddr2: header.originAddr2,
    originCity: header.originCity,
    originState: header.originState,
    originZip: header.originZip,
    originCountry: header.originCountry,
    totalStops,
    reference: header.reference,
    weight: valued(header.weight),
    volume: valued(header.volume),
    companyId: company,
    assignedDriver: driver.driverName,
  };
}

export type LegacyLoadHeader = ReturnType<typeof headerOf>;

/** The header of each load, by the load's id. */
export async function legacyLoadHeaders(
  db: Reader,
  company: LegacyCompany,
  loads: readonly StoredLoad[],
): Promise<ReadonlyMap<number, LegacyLoadHeader>> {
  const counts = await countStopsOfLoads(
    db,
    loads.map(({ id }) => id),
  );
  if (loads.length === 0) return new Map();
  const shownCompany = await legacyCompany(db, company);
  const contextOf = ({ id }: StoredLoad): HeaderContext => ({
    ...{ company: shownCompany, loadId: company.shown?.load(id) ?? id, totalStops: counts.get(id) ?? 0 },
  });
  return new Map(loads.map((load) => [load.id, headerOf(load, contextOf(load))]));
}

/** Loads as results by themselves: the header, and four fields of the load (specification/legacy-services.md#load). */
export async function legacyLoads(
  db: Reader,
  company: LegacyCompany,
  loads: readonly StoredLoad[],
): Promise<readonly object[]> {
  const headers = await legacyLoadHeaders(db, company, loads);
  return loads.map((load) => {
    const { earliestStartDttm, latestStartDttm, totalPallets, totalCartons } = JSON.parse(
      load.body,
    ) as LoadHeader;
    return {
      ...headers.get(load.id),
      earliestStartDttm: legacyDateTime(earliestStartDttm),
      latestStartDttm: legacyDateTime(latestStartDttm),
      totalPallets: numberOf(totalPallets),
      totalCartons: numberOf(totalCartons),
    };
  });
}

/** Every field of a load's header, at its place. */
export const legacyLoadHeaderFields: FieldTree = {
  ...leaves("loadId", "loadNbr", "status", "origin", "originName", "originAddr1", "originAddr2"),
  ...leaves("originCity", "originState", "originZip", "originCountry", "totalStops", "reference"),
  ...leaves("assignedDriver"),
  weight: leaves("value"),
  volume: leaves("value"),
  companyId: leaves("companyId", "companyName", "address1", "address2", "city", "state", "zip"),
};

/** Every field of a load as a result by itself. */
export const legacyLoadFields: FieldTree = {
  ...legacyLoadHeaderFields,
  ...leaves("earliestStartDttm", "latestStartDttm", "totalPallets", "totalCartons"),
};
