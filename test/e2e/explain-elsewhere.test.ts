/** "Where is my file?", when it is on a server of others, or on a share that does not answer. */
import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { company, oneParser, type Settings, Site } from "../support/daemon.ts";
import { canMountShares, FrozenShare } from "../support/frozen-share.ts";
import { openSftpRemote, putFile, stopText } from "../support/remote-site.ts";
import { isInstalled } from "../support/run-program.ts";
import { waitFor } from "../support/wait-for.ts";
import { openStore } from "../../src/store/database/database.ts";
import { addDelivery } from "../../src/store/outbound/deliveries.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function siteWith(settings: Settings): Promise<Site> {
  const site = await Site.make({ inbound: oneParser, companies: { [company]: settings } });
  ends.push(() => site.end());
  return site;
}

test.skipIf(!isInstalled("sshd"))(
  "a file that a remote has and that is not taken: too young, being written, behind another, left alone",
  async () => {
    const remote = await openSftpRemote();
    ends.push(() => remote.end());
    const site = await siteWith({});
    const { host, port, user, hostKeys, privateKey } = remote.server;
    await writeFile(join(site.folder, "remote-key"), privateKey ?? "", { mode: 0o600 });
    const signIn = { host, port, user, hostKeys, privateKey: `file:${join(site.folder, "remote-key")}` };
    const settings = {
      type: "sftp",
      ...signIn,
      directory: remote.directory,
      everyMs: 1_000,
      after: "delete",
    };
    await site.reconfigure({
      companies: { [company]: { remotes: { partner: { ...settings, settleMs: 600_000 } } } },
    });
    const [young, later, folder] = ["s1_20261105_080000.xml", "s2_20261105_080000.xml", "s3.xml"];
    putFile(join(remote.box, young), stopText("s1"));
    putFile(join(remote.box, `${later}.part`), "<Stops>");
    mkdirSync(join(remote.box, folder));
    await site.start();
    const explain = async (subject: string) => await site.cli("explain", subject);
    const told = await waitFor("the report of the daemon", async () => {
      const now = await explain(young);
      return now.exitCode === 0 ? now.output : undefined;
    });
    expect(told).toMatch(
      new RegExp(
        `${young}, company ACME, lies on the remote partner \\(\\d+ bytes\\)\n  It is not fetched yet`,
      ),
    );
    expect((await explain("s1")).output).toContain(`${young}, company ACME, lies on the remote partner`);
    expect((await explain(later)).output).toContain(
      `${later}.part, company ACME, lies on the remote partner\n  Its name says that it is unfinished`,
    );
    expect((await explain(folder)).output).toContain("It is left alone: a folder is not fetched");
    const [facts] = (await site.json<{ untaken: readonly object[] }>("explain", young)).untaken;
    expect(facts).toMatchObject({ company, remote: "partner", name: young, why: { kind: "settling" } });
    await site.stop();
    expect((await explain(young)).exitCode).toBe(1);
  },
);

test.skipIf(!canMountShares)(
  "on a share whose server does not answer the command ends, and names the folders that it could not ask",
  async () => {
    const site = await siteWith({});
    const share = await FrozenShare.mount(site.folder, ["in", "out"]);
    ends.push(() => share.end());
    const [inFolder, outFolder] = [join(share.path, "in"), join(share.path, "out")];
    const besides = join(site.folder, "besides");
    mkdirSync(besides);
    const folders = [{ path: inFolder }, { path: besides }];
    const targets = { erp: { type: "folder", path: outFolder } };
    await site.reconfigure({ companies: { [company]: { folders, outbound: { targets } } } });
    await site.start();
    await site.stop();
    const store = await openStore(site.stateDir, { url: site.databaseUrl });
    await store.write("site", async (tx) => {
      const { id, company_id: companyId } = await tx
        .selectFrom("outbound_targets")
        .select(["id", "company_id"])
        .where("name", "=", "erp")
        .executeTakeFirstOrThrow();
      const line = { companyId, targetId: id, orderKey: "e", subjectId: 1, now: Date.now() };
      await addDelivery(tx, { ...line, kind: "export", name: "e1.xml" });
      await tx.updateTable("deliveries").set({ state: "delivered", delivered_at: Date.now() }).execute();
    });
    await store.close();
    share.freeze();
    const { exitCode, output } = await site.cli("explain", "e1.xml");
    expect(exitCode, output).toBe(0);
    expect(output).toContain(
      `Nothing is taken from ${inFolder} (company ACME): it does not answer within 10 seconds, so it is not searched`,
    );
    expect(output).toContain(`Whether it is still there is not known: ${join(outFolder, "e1.xml")}`);
    expect(output).not.toContain(`Nothing is taken from ${besides}`);
    putFile(join(besides, "e2.xml"), stopText("e2"));
    expect((await site.cli("explain", "e2.xml")).output).toContain(
      `${join(besides, "e2.xml")}, company ACME`,
    );
    share.thaw();
    const thawed = await site.cli("explain", "e1.xml");
    expect(thawed.output).toContain("It is not there any more");
    expect(thawed.output).not.toContain("does not answer");
  },
);

test.skipIf(!canMountShares)(
  "on a share that dies after it has answered the probe the command ends too, and says what it could not search",
  async () => {
    const site = await siteWith({});
    const share = await FrozenShare.mount(site.folder, ["in"]);
    ends.push(() => share.end());
    const [inFolder, besides] = [join(share.path, "in"), join(site.folder, "besides")];
    mkdirSync(besides);
    const folders = [{ path: inFolder }, { path: besides }];
    await site.reconfigure({ companies: { [company]: { folders } } });
    await site.start();
    await site.stop();
    putFile(join(besides, "s1_20261105_080000.xml"), stopText("s1"));
    await share.dieAtNextList();
    const { exitCode, output } = await site.cli("explain", "s1");
    expect(exitCode, output).toBe(0);
    expect(output).toContain(`${join(besides, "s1_20261105_080000.xml")}, company ACME`);
    expect(output).toContain(
      `Nothing is taken from ${inFolder} (company ACME): it does not answer within 10 seconds, so it is not searched`,
    );
  },
);
