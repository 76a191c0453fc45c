/** A state directory with a ledger whose entries a test makes by hand. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { DecidedState } from "../../domain/files/file-state.ts";
import type { Fault } from "../../lib/errors.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { enterFile, markFiled, recordDecision } from "../../store/ledger/files.ts";
import { createLocations, type Locations } from "../places/locations.ts";

export interface Decided {
  readonly state: DecidedState;
  readonly location: string;
  readonly text: string;
  readonly stopNbr?: string;
  readonly faults?: readonly Fault[];
  readonly isFiled?: boolean;
  readonly firstId?: number;
  /** Milliseconds UTC. */
  readonly decidedAt?: number;
  /** Where the bytes are put, `location` when left out; empty for nowhere. */
  readonly putAt?: readonly string[];
}

export function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export class LedgerFixture {
  stateDir = "";
  /** Of ACME, which is there from the beginning. */
  companyId = 0;
  #store: Store | undefined;

  get store(): Store {
    if (this.#store === undefined) throw new Error("no test is running");
    return this.#store;
  }

  get locations(): Locations {
    return createLocations(this.stateDir);
  }

  async open(): Promise<void> {
    this.stateDir = await mkdtemp(join(tmpdir(), "dropgate-ledger-"));
    this.#store = await openFreshStore(this.stateDir);
    this.companyId = await this.company("ACME");
  }

  async close(): Promise<void> {
    await this.store.close();
    await rm(this.stateDir, { recursive: true, force: true });
  }

  async company(code: string): Promise<number> {
    const created = { code, createdAt: 1_700_000_000_000 };
    return (await this.store.write("site", (tx) => insertCompany(tx, created))).company.id;
  }

  /** Writes a file below the state directory. */
  async put(location: string, text: string): Promise<string> {
    const path = join(this.stateDir, location);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  }

  /** Enters a waiting file of ACME whose bytes lie in `inbound/`. */
  async wait(name: string, options: { text?: string; nameTime?: number | null } = {}): Promise<number> {
    const { text = name, nameTime = 20261105080000 } = options;
    const location = await this.#placeOf(name);
    await this.put(location, text);
    const arrival = { channel: "sftp", userName: "host1", receivedAt: 1_700_000_000_000, location };
    const entry = { companyId: this.companyId, name, nameTime, size: text.length, ...arrival };
    return await this.store.write("site", (tx) => enterFile(tx, entry));
  }

  /** A second file of a name that waits lies elsewhere. */
  async #placeOf(name: string): Promise<string> {
    const location = `companies/ACME/inbound/${name}`;
    const { id } = (await this.store.read
      .selectFrom("files")
      .select("id")
      .where("source", "=", location)
      .where("state", "=", "waiting")
      .executeTakeFirst()) ?? { id: undefined };
    const mark = String(id).padStart(12, "0");
    return id === undefined ? location : `companies/ACME/inbound/.again/${mark}-${name}`;
  }

  /** Decides about an entry and, unless told otherwise, notes it as filed. The bytes are put where `text` says. */
  async decide(id: number, decided: Decided): Promise<void> {
    const { state, location, text, stopNbr = null, faults = [], firstId = null } = decided;
    const { decidedAt = 1_700_000_001_000 } = decided;
    await this.store.write("site", async (tx) => {
      const counts = { created: state === "applied" ? 1 : 0, updated: 0, deleted: 0 };
      const about = { stopFunction: "01", stopNbr, documentId: null, firstId };
      const content = { sha256: sha256Of(text), size: text.length, faults, ...counts };
      await recordDecision(tx, { id, state, location, decidedAt, ...about, ...content });
      if (decided.isFiled !== false) await markFiled(tx, [id]);
    });
    for (const place of decided.putAt ?? [location]) await this.put(place, text);
  }
}

/** Each test of the file or block has a ledger of its own, in the fixture. */
export function ledgerOfEachTest(fixture = new LedgerFixture()): LedgerFixture {
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());
  return fixture;
}
