/** The acts of the console on a store of a test, with users who may act and who may only look. */
import type { Config } from "../../src/config/schema.ts";
import type { Role } from "../../src/domain/users/role.ts";
import type { ConsoleUser } from "../../src/endpoints/http/console/console-user.ts";
import type { ConsoleServices } from "../../src/endpoints/http/console/console-services.ts";
import { HealthJob } from "../../src/app/console/health/health-job.ts";
import { createConsoleActs } from "../../src/app/console/act-table.ts";
import { Integrations } from "../../src/integrations/integrations.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { createSealedNumbers, newSealingKey, type SealedNumbers } from "../../src/lib/sealed-numbers.ts";
import { ledgerNumberKind } from "../../src/inbound/receipts/receipts.ts";
import type { SignInBans } from "../../src/sign-in/failed-sign-ins.ts";
import type { Ban } from "../../src/sign-in/failures/bans.ts";
import type { AuditEntry } from "../../src/store/accounts/audit.ts";
import { listAudit } from "../../src/store/accounts/audit-lists.ts";
import { listCompanies } from "../../src/store/accounts/companies.ts";
import { insertUser, saveMembership } from "../../src/store/accounts/users.ts";
import type { Store } from "../../src/store/database/database.ts";
import { configOf } from "./message-site.ts";
import type { PreparedDocument } from "../../src/documents/pool/prepared-document.ts";

export interface ActSite extends Pick<ConsoleServices, "act" | "look"> {
  now: number;
  readonly ledgerNumbers: SealedNumbers;
  /** Banned addresses, by their keys. */
  readonly bans: Map<string, Ban>;
  /** Signs a user in who has these roles in that company; one who is no operator unless told otherwise. */
  user(name: string, roles: readonly Role[], companyId: number, isOperator?: boolean): Promise<ConsoleUser>;
  /** All entries of the audit, the oldest first. */
  audit(): Promise<readonly AuditEntry[]>;
}

export interface ActSiteOptions {
  readonly store: Pick<Store, "read" | "write">;
  readonly stateDir: string;
  readonly now: number;
  readonly config?: Config;
  readonly prepareFile?: (path: string) => Promise<PreparedDocument>;
  /** Those of `bans` unless given. */
  readonly signInBans?: SignInBans;
}

async function unread(): Promise<PreparedDocument> {
  throw new Error("this test reads no documents");
}

export async function openActSite(options: ActSiteOptions): Promise<ActSite> {
  const { store, stateDir, prepareFile = unread } = options;
  const config = options.config ?? (await configOf({}));
  const ledgerNumbers = createSealedNumbers(newSealingKey(), ledgerNumberKind);
  const bans = new Map<string, Ban>();
  const operators = new Set<string>();
  const clock = { now: () => site.now };
  const acts = createConsoleActs({
    ...{ store, stateDir, ledgerNumbers },
    clock,
    config: () => config,
    documents: { prepareFile },
    bans: options.signInBans ?? {
      list: () => [...bans.values()],
      lift: (key) => void bans.delete(key),
      noteLifted: async () => undefined,
    },
    signIns: { refusedOf: () => [], bannedForMs: () => 0 },
    jobs: { verification: new HealthJob({ kind: "verify", configFile: "/nowhere", clock }) },
    collectionWatch: { uncollectedOf: () => undefined },
    folders: { standings: () => [] },
    intake: { whyNoRoom: async () => undefined },
    requests: { find: () => undefined },
    integrations: new Integrations({ integrations: new Map(), log: createLogger({ level: "silent" }) }),
    isOperator: ({ userName }) => operators.has(userName),
  });
  const site: ActSite = {
    ...acts,
    ...{ now: options.now, ledgerNumbers, bans },
    async user(userName, roles, companyId, isOperator = false) {
      const userId = await store.write("site", async (tx) => {
        const id = await insertUser(tx, { userName, passwordHash: null, now: site.now });
        await saveMembership(tx, { companyId, userId: id, userName, roles });
        return id;
      });
      if (isOperator) operators.add(userName);
      const company = (await listCompanies(store.read)).find(({ id }) => id === companyId);
      const companies = [{ id: companyId, code: company?.code ?? "", roles }];
      const session = { formToken: "", sessionName: userName, address: "192.0.2.7" };
      return { userId, userName, companies, isOperator, ...session };
    },
    async audit() {
      const companies = (await listCompanies(store.read)).map(({ id }) => id);
      const all = await listAudit(store.read, { companyIds: [...companies, null], limit: 1_000 });
      return all.toReversed();
    },
  };
  return site;
}
