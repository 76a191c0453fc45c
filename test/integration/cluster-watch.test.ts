/** The watch of the tests with several nodes: it must see each write that a fence has failed to refuse, and no other. */
import pg from "pg";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { applicationNameOf, intrusions, watchCluster } from "../support/cluster-watch.ts";
import { databaseForEachTest } from "../support/lease-nodes.ts";
import { askPostgres, hasPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openUncheckedStore } from "../support/unchecked-store.ts";

const database = databaseForEachTest(1);
const leaseMs = 10_000;
const work = "update remote_states set failures = failures + 1";

const watched = () => ({ ask: (text: string) => askPostgres(database().url, text) });
const seen = () => intrusions(watched());
const companyId = () => database().companies[0] ?? 0;

beforeEach(async () => {
  if (!hasPostgres) return;
  await watchCluster(watched());
  await watched().ask(`insert into remote_states (company_id, remote) values (${companyId()}, 'host')`);
});

function addressOf(node: string, run: number): string {
  return `${database().url}?application_name=${encodeURIComponent(applicationNameOf(node, run))}`;
}

interface NodeProcess {
  readonly claim: () => Promise<void>;
  readonly release: () => Promise<void>;
  /** As a unit of work whose fence nobody compares. */
  readonly write: () => Promise<void>;
}

async function startProcess(node: string, run: number): Promise<NodeProcess> {
  const url = addressOf(node, run);
  const store = await openUncheckedStore(temporaryFolder(), { url, node: { name: node, leaseMs } });
  onTestFinished(() => store.close());
  const claim = async () => {
    // Whoever had it before has let it run out.
    await watched().ask("update leases set expires_at = 0");
    await store.leases?.claim({ node, leaseMs, limit: 0, graceMs: 0, without: [] });
  };
  const release = async () => {
    const [[epoch] = []] = await watched().ask(`select epoch from leases where company_id = ${companyId()}`);
    await store.leases?.release(node, [{ companyId: companyId(), epoch: Number(epoch) }], { isSure: true });
  };
  const write = async () => {
    await store.write(companyId(), async (tx) => {
      await tx
        .updateTable("remote_states")
        .set((eb) => ({ failures: eb("failures", "+", 1) }))
        .execute();
    });
  };
  return { claim, release, write };
}

/** A session of a process, in which a test writes as it likes. */
async function openSession(node: string, run: number): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: addressOf(node, run) });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe.runIf(hasPostgres)("the watch of a cluster", () => {
  it("counts nothing of the process that has claimed the company, however often it has before", async () => {
    const [one, two] = [await startProcess("one", 1), await startProcess("two", 1)];
    for (const process of [one, two, one, one]) {
      await process.claim();
      await process.write();
    }
    expect(await seen()).toEqual([]);
  });

  it("counts what another node writes, and the owner after it has given the company back", async () => {
    const [one, two] = [await startProcess("one", 1), await startProcess("two", 1)];
    await one.claim();
    await two.write();
    expect(await seen()).toEqual([expect.stringContaining("by dropgate two run 1 while one had it")]);
    await one.release();
    await one.write();
    expect(await seen()).toEqual([expect.stringContaining("by dropgate one run 1 while nobody had it")]);
    expect(await seen()).toEqual([]);
  });

  it("counts what a former process writes when the next one of its name has the company", async () => {
    const [former, next] = [await startProcess("one", 1), await startProcess("one", 2)];
    await former.claim();
    await former.write();
    await next.claim();
    await next.write();
    expect(await seen()).toEqual([]);
    await former.write();
    expect(await seen()).toEqual([
      expect.stringContaining("by dropgate one run 1 while it was claimed by dropgate one run 2"),
    ]);
  });

  it("counts what a transaction of the former lease writes when the process has the company again", async () => {
    const [one, two] = [await startProcess("one", 1), await startProcess("two", 1)];
    const session = await openSession("one", 1);
    await one.claim();
    await session.query("begin");
    await two.claim();
    await one.claim();
    await session.query(`select 1 from lanes where company_id = ${companyId()} for update`);
    await session.query(work);
    await session.query("commit");
    expect(await seen()).toEqual([expect.stringContaining("in a transaction from before its claim")]);
  });

  it("counts what the owner writes without the lock under which epochs are compared", async () => {
    const one = await startProcess("one", 1);
    const session = await openSession("one", 1);
    await one.claim();
    await session.query(work);
    expect(await seen()).toEqual([expect.stringContaining("without the lock of its lane")]);
  });
});
