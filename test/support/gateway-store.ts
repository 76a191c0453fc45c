/** The gateway's operations on a real store, without HTTP before them: one company ACME, and a clock that is set by hand. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createOperationContext } from "../../src/app/daemon/operation-context.ts";
import { createDocumentPool } from "../../src/documents/pool/document-pool.ts";
import {
  type AppointmentSettings,
  noAppointments,
} from "../../src/domain/appointments/appointment-region.ts";
import { type CallOperation, callWith } from "../../src/endpoints/http/server/operation-context.ts";
import type { LoadStatus } from "../../src/domain/load/load-status.ts";
import type { Role } from "../../src/domain/users/role.ts";
import type { StopStatus } from "../../src/domain/stop/stop-status.ts";
import { DropgateError } from "../../src/lib/errors.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { newSealingKey } from "../../src/lib/sealed-numbers.ts";
import { readImportInfo } from "../../src/operations/imports/import-info.ts";
import { importLoads } from "../../src/operations/imports/import-loads.ts";
import { importAsns, importStops } from "../../src/operations/imports/import-stops.ts";
import { readLoadDetail } from "../../src/operations/loads/load-detail.ts";
import { readStopDetail } from "../../src/operations/stops/stop-detail.ts";
import { createLoadImporter } from "../../src/operations/imports/load-importer.ts";
import type { EventSettings } from "../../src/operations/execution/route-report.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { openFreshStore } from "./fresh-store.ts";
import { savePartner } from "../../src/store/accounts/partners.ts";
import { insertUser, saveMembership } from "../../src/store/accounts/users.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { waitFor } from "./wait-for.ts";

const log = createLogger({ level: "silent" });

export interface DriverToAdd {
  readonly userName: string;
  readonly email?: string;
  readonly cdlNumber?: string;
  readonly fullName?: string;
  readonly carriers?: readonly string[];
  readonly roles?: readonly Role[];
  readonly isEnabled?: boolean;
}

export class GatewayStore {
  readonly store: Store;
  readonly companyId: number;
  readonly call: CallOperation;
  readonly at = { companyCode: "ACME", companyId: 0 };
  now = Date.UTC(2026, 10, 5, 8);
  eventSettings: EventSettings = {
    ...{ autoDepart: false, geofenceRadius: 200, averageSpeedKmh: 45, etaIntervalMs: 30_000 },
    maxAheadHours: 48,
  };

  appointmentSettings: AppointmentSettings = noAppointments;

  private constructor(store: Store, companyId: number, documentsDir: string) {
    this.store = store;
    this.companyId = companyId;
    this.at = { companyCode: "ACME", companyId };
    const clock = { now: () => this.now };
    const importer = createLoadImporter({ store, clock, log });
    void importer.start(new AbortController().signal);
    onTestFinished(async () => {
      await importer.stop(AbortSignal.abort());
      await store.close();
    });
    const context = createOperationContext({
      ...{ store, clock, documentsDir, numberKey: newSealingKey(), events: () => this.eventSettings },
      appointments: () => this.appointmentSettings,
      documents: createDocumentPool({ log, threads: 1 }),
    });
    this.call = callWith(context);
  }

  static async open(): Promise<GatewayStore> {
    const folder = temporaryFolder();
    const store = await openFreshStore(folder);
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    return new GatewayStore(store, company.id, join(folder, "documents"));
  }

  async addPartner(...codes: readonly string[]): Promise<void> {
    const { companyId, now } = this;
    for (const partnerCode of codes)
      await this.store.write("site", (tx) => savePartner(tx, { companyId, partner: { partnerCode }, now }));
  }

  async addDriver(driver: DriverToAdd): Promise<void> {
    const { companyId, now } = this;
    const { userName, roles = ["DI_Driver"], carriers = [], isEnabled = true } = driver;
    await this.store.write("site", async (tx) => {
      const userId = await insertUser(tx, { userName, passwordHash: null, now });
      await saveMembership(tx, { companyId, userId, userName, roles });
      await tx
        .updateTable("memberships")
        .set({
          email: driver.email ?? null,
          cdl_number: driver.cdlNumber ?? null,
          full_name: driver.fullName ?? null,
        })
        .where("user_id", "=", userId)
        .execute();
      for (const partner_code of carriers)
        await tx
          .insertInto("user_carriers")
          .values({ company_id: companyId, partner_code, user_id: userId })
          .execute();
      if (!isEnabled) await tx.updateTable("users").set({ is_enabled: 0 }).where("id", "=", userId).execute();
    });
  }

  importStops(...stops: readonly object[]): Promise<void> {
    return this.call(importStops, {
      ...this.at,
      serviceName: "default",
      body: { companyCode: "ACME", stops },
    });
  }

  importAsns(...stops: readonly object[]): Promise<void> {
    return this.call(importAsns, {
      ...this.at,
      serviceName: "default",
      body: { companyCode: "ACME", stops },
    });
  }

  /** Rejects when the import is refused as a whole. */
  askForLoads(...loads: readonly object[]): Promise<{ readonly importId: string }> {
    return this.call(importLoads, {
      ...this.at,
      serviceName: "default",
      userName: "host",
      body: { companyCode: "ACME", loads },
    });
  }

  /** Imports the loads, waits until they are decided and gives the outcome of each: "Success" or its reason codes. */
  async importLoads(...loads: readonly object[]): Promise<readonly (string | readonly number[])[]> {
    const { companyId } = this;
    const { importId } = await this.askForLoads(...loads);
    return await waitFor("the import to be finished", async () => {
      const info = await this.call(readImportInfo, { companyId, importId });
      if (info.finishedDTTM === null) return undefined;
      return info.loads.map((load) =>
        load.Reasons === undefined ? load.status : load.Reasons.map(({ reasonCode }) => reasonCode),
      );
    });
  }

  async load(loadNbr: string) {
    const { companyId } = this;
    return JSON.parse(await this.call(readLoadDetail, { companyId, loadNbr })).Load;
  }

  async stop(stopNbr: string) {
    const { companyId } = this;
    return JSON.parse(await this.call(readStopDetail, { companyId, stopNbr })).Stop;
  }

  async stopStatus(stopNbr: string): Promise<string> {
    return (await this.stop(stopNbr)).stopExecutionInfo.stopStatus;
  }

  /** The codes of all events recorded since the last call. */
  async events(): Promise<readonly number[]> {
    const rows = await this.store.read
      .selectFrom("recorded_events")
      .select(["id", "event_code"])
      .where("id", ">", this.#lastEvent)
      .orderBy("id")
      .execute();
    this.#lastEvent = rows.at(-1)?.id ?? this.#lastEvent;
    return rows.map(({ event_code }) => event_code);
  }

  #lastEvent = 0;

  async forceStop(stopNbr: string, status: StopStatus): Promise<void> {
    await this.store.write("site", async (tx) => {
      await tx.updateTable("stops").set({ stop_status: status }).where("stop_nbr", "=", stopNbr).execute();
    });
  }

  async forceLoad(loadNbr: string, status: LoadStatus): Promise<void> {
    await this.store.write("site", async (tx) => {
      await tx.updateTable("loads").set({ load_status: status }).where("load_nbr", "=", loadNbr).execute();
    });
  }
}

/** The name of the error that the work ends with, or "done". */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    if (error instanceof DropgateError) return error.code;
    throw error;
  }
}

export function load(loadNbr: string, stops: readonly string[] = [], rest: object = {}): object {
  return { loadHeader: { loadNbr }, stops: stops.map((stopNbr) => ({ stopNbr })), ...rest };
}

/** A stop with a time window. */
export function stop(stopNbr: string, rest: object = {}): object {
  return { stopNbr, to: { schedule: { timeFrom: "2026-11-06T08:00:00" } }, ...rest };
}
