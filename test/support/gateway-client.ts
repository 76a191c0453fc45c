/** The gateway over HTTP, as a host's developer uses it. */
import { http, type HttpReply } from "./clients.ts";
import { company, type Site } from "./daemon.ts";
import { waitFor } from "./wait-for.ts";

export interface GatewayUser {
  readonly userName?: string;
  readonly password?: string;
}

/** Posts a JSON body to an operation; the company is put behind the path. */
export async function post(
  site: Site,
  path: string,
  body: unknown,
  as: GatewayUser = {},
): Promise<HttpReply> {
  return await http(site, `${path}/${company}`, {
    ...as,
    body: JSON.stringify(body),
    type: "application/json",
  });
}

/** The codes of a refusal; empty for a success. */
export function reasonCodes(reply: HttpReply): readonly number[] {
  const { Reasons = [] } = JSON.parse(reply.body) as { Reasons?: readonly { reasonCode: number }[] };
  return Reasons.map(({ reasonCode }) => reasonCode);
}

/** The outcome in short: the status, and for a refusal its codes. */
export async function outcome(reply: Promise<HttpReply>): Promise<string> {
  const answer = await reply;
  return [answer.status, ...reasonCodes(answer)].join(" ");
}

export async function getJson<T>(site: Site, path: string): Promise<T> {
  const reply = await http(site, path);
  if (reply.status !== 200) throw new Error(`GET ${path} answered ${reply.status}: ${reply.body}`);
  return JSON.parse(reply.body) as T;
}

export interface ImportInfo {
  readonly status: string;
  readonly finishedDTTM: string | null;
  readonly loads: readonly { readonly loadNbr: string; readonly status: string }[];
}

/** Waits until the import is finished and gives what became of it. */
export async function importFinished(site: Site, importId: string): Promise<ImportInfo> {
  return await waitFor("the import to be finished", async () => {
    const info = await getJson<ImportInfo>(site, `/v5/import/info/${importId}/${company}`);
    return info.finishedDTTM === null ? undefined : info;
  });
}

/** Imports loads and waits until they are decided. */
export async function importLoads(site: Site, loads: readonly object[]): Promise<ImportInfo> {
  const reply = await post(site, "/v5/load/update/default", { companyCode: company, loads });
  const { importId } = JSON.parse(reply.body) as { importId?: string };
  if (importId === undefined) throw new Error(`the import answered ${reply.status}: ${reply.body}`);
  return await importFinished(site, importId);
}

/** The recorded events of a load or stop, as codes. */
export async function eventCodes(site: Site, query: string): Promise<readonly number[]> {
  interface Listed {
    readonly Events: readonly { readonly eventCode: number }[];
  }
  const { Events } = await getJson<Listed>(site, `/v5/event/list/${company}?${query}&limit=5000`);
  return Events.map(({ eventCode }) => eventCode);
}
