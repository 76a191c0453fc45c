/** A site with everything that metrics tell of: all endpoints, a target, an export, and a remote that is not polled yet. */
import { company, Site } from "./daemon.ts";
import { makeAuthority } from "./certificates.ts";

/** What its daemon is started with. */
export const measuredEnv = { REMOTE_PASSWORD: "nobody" };

export async function measuredSite(): Promise<Site> {
  const site = await Site.make();
  const { certificateFile: certFile, keyFile } = await (await makeAuthority(site.folder)).issue("server", {
    days: 30,
  });
  const remote = {
    type: "ftp",
    host: "127.0.0.1",
    port: 1,
    user: "x",
    allowPlain: true,
    password: "env:REMOTE_PASSWORD",
    after: "leave",
  };
  await site.configure({
    http: { metricsFrom: ["127.0.0.0/8"] },
    ftp: { enabled: true, tls: { certFile, keyFile } },
    companies: {
      [company]: {
        outbound: {
          targets: { host: { type: "folder" } },
          exports: { yearly: { schedule: "0 0 29 2 *", target: "host" } },
        },
        remotes: { partner: { ...remote, schedule: "0 0 29 2 *" } },
      },
    },
  });
  await site.start({ env: measuredEnv });
  return site;
}

export async function metricsOf(site: Site): Promise<string> {
  const answer = await fetch(`${site.http}/metrics`, { headers: { connection: "close" } });
  if (answer.status !== 200) throw new Error(`/metrics answered ${answer.status}`);
  return await answer.text();
}
