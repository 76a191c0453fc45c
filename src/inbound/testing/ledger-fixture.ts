/** A state directory with a ledger whose entries a test makes by hand. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { DecidedState } from "../../domain/file-state.ts";
import type { Fault } from "../../lib/errors.ts";
import { insertCompany } from "../../store/companies.ts";
import { openStore, type Store } from "../../store/database.ts";
import { enterFile, markFiled, recordDecision } from "../../store/files.ts";
import { createLocations, type Locations } from "../locations.ts";

export interface LedgerFixture {
  readonly stateDir: string;
  readonly store: Store;
  readonly locations: Locations;
  company(code: string): Promise<number>;
  /** Writes a file below the state directory. */
  put(location: string, text: string): Promise<string>;
  /** Enters a waiting file whose bytes lie in `inbound/`. */
  wait(
    companyId: number,
    name: string,
    options?: { text?: string; nameTime?: number | null },
  ): Promise<number>;
  /** Decides about an entry and, unless told otherwise, notes it as filed. The bytes are put where `text` says. */
  decide(id: number, decided: Decided): Promise<void>;
  close(): Promise<void>;
}

export interface Decided {
  readonly state: DecidedState;
  readonly location: string;
  readonly text: string;
  readonly stopNbr?: string;
  readonly faults?: readonly Fault[];
  readonly isFiled?: boolean;
  readonly firstId?: number;
  /** Where the bytes are put, `location` when left out; empty for nowhere. */
  readonly putAt?: readonly string[];
}

export function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export async function makeLedgerFixture(): Promise<LedgerFixture> {
  const stateDir = await mkdtemp(join(tmpdir(), "dropgate-ledger-"));
  const store = await openStore(stateDir);
  const put = async (location: string, text: string) => {
    const path = join(stateDir, location);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  };
  return {
    stateDir,
    store,
    locations: createLocations(stateDir),
    put,
    async company(code) {
      const { company } = await store.write((tx) =>
        insertCompany(tx, { code, createdAt: 1_700_000_000_000 }),
      );
      return company.id;
    },
    async wait(companyId, name, options = {}) {
      const location = `companies/ACME/inbound/${name}`;
      await put(location, options.text ?? name);
      const nameTime = options.nameTime === undefined ? 20261105080000 : options.nameTime;
      const arrival = { channel: "sftp", userName: "host1", receivedAt: 1_700_000_000_000, location };
      const size = (options.text ?? name).length;
      return await store.write((tx) => enterFile(tx, { companyId, name, nameTime, size, ...arrival }));
    },
    async decide(id, decided) {
      const { state, location, text, stopNbr, faults, firstId } = decided;
      await store.write(async (tx) => {
        const counts = { created: state === "applied" ? 1 : 0, updated: 0, deleted: 0 };
        const about = {
          stopFunction: "01",
          stopNbr: stopNbr ?? null,
          documentId: null,
          firstId: firstId ?? null,
        };
        const content = { sha256: sha256Of(text), size: text.length, faults: faults ?? [], ...counts };
        await recordDecision(tx, { id, state, location, decidedAt: 1_700_000_001_000, ...about, ...content });
        if (decided.isFiled !== false) await markFiled(tx, [id]);
      });
      for (const place of decided.putAt ?? [location]) await put(place, text);
    },
    async close() {
      await store.close();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
