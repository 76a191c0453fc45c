/** Two daemons on one PostgreSQL and one tree, behind HAProxy: one is killed during uploads, one is frozen beyond its lease. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Authority, makeAuthority } from "../support/certificates.ts";
import { faults } from "../support/cluster-faults.ts";
import { companySection, runRound } from "../support/cluster-round.ts";
import { ClusterSite } from "../support/cluster-site.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { randomOf } from "../support/random-numbers.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { hasReverseProxy } from "../support/reverse-proxy.ts";
import { patienceMs } from "../support/wait-for.ts";

const isPossible = hasPostgres && hasReverseProxy;
const seed = Number(process.env["DROPGATE_CLUSTER_SEED"] ?? 1);
/** A machine that is busy with other tests freezes daemons too: here no lease runs out by itself. */
const leaseMs = 4_000;

let folder: string;
let receiver: Receiver;
let site: ClusterSite;

beforeAll(async () => {
  if (!isPossible) return;
  folder = await mkdtemp(join(tmpdir(), "dropgate-receiver-"));
  const authority: Authority = await makeAuthority(folder);
  receiver = await startReceiver({ certificate: await authority.issue("receiver") });
  site = await ClusterSite.make({
    ...{ nodes: 2, companies: 3, leaseMs, company: companySection(receiver, authority.caFile) },
    settings: { inbound: { parserThreads: 1, scanMs: 2_000 } },
  });
});
afterAll(async () => {
  if (!isPossible) return;
  await site.end();
  await receiver.end();
  await rm(folder, { recursive: true });
});

describe.runIf(isPossible)("a node of two", () => {
  it.each([
    ["is killed", "kill"],
    ["stands still for twice its lease", "freeze"],
  ])(
    "loses, doubles and reorders nothing when it %s during uploads; the other goes on",
    async (_, kind) => {
      const fault = faults.find((each) => each.kind === kind);
      if (fault === undefined) throw new Error(`there is no fault ${kind}`);
      const plan = { prefix: kind.toUpperCase(), fault, random: randomOf(seed), receiver };
      const { verdict } = await runRound(site, { ...plan, stopsOfCompany: 2, paceMs: 600, isShared: true });
      // How late a busy machine is, says nothing about the node.
      expect(verdict.problems.filter((problem) => !problem.startsWith("late"))).toEqual([]);
      expect(verdict.files).toBeGreaterThan(10);
      expect(await site.verifyLedger()).toEqual([]);
    },
    2 * patienceMs,
  );
});
