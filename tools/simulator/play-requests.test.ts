/** How requests are sent, against a real server on loopback whose answers are given. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createTally } from "./day-tally.ts";
import { createGatewayClient, type GatewayClient } from "./gateway-client.ts";
import { askAsPlanned, type Play } from "./play-requests.ts";

interface Scripted {
  /** 0 breaks the connection. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Rig {
  readonly play: Play;
  readonly seen: { readonly authorization: string | undefined; readonly body: string }[];
}

const open: { readonly server: Server; readonly client: GatewayClient }[] = [];

afterEach(async () => {
  for (const { server, client } of open.splice(0)) {
    client.close();
    await new Promise((closed) => server.close(closed));
  }
});

/** Gives the answers one after another. */
async function rigWith(...answers: readonly Scripted[]): Promise<Rig> {
  const seen: Rig["seen"] = [];
  const server = createServer((request, response) => {
    const { status = 500, headers = {}, body = "{}" } = answers[seen.length] ?? {};
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    request.on("end", () => {
      seen.push({ authorization: request.headers.authorization, body: text });
      if (status === 0) request.socket.destroy();
      else response.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createGatewayClient({ url, userName: "host", password: "p1", driverPassword: "p2" });
  open.push({ server, client });
  const controller = new AbortController();
  const play: Play = {
    ...{ client, companyCode: "ACME", tally: createTally(), onAnswer: () => undefined },
    signal: controller.signal,
    giveUp: () => controller.abort(),
  };
  return { play, seen };
}

async function askOnce({ play }: Rig, sender?: string) {
  const request = { method: "POST", path: "/v5/event/gps/ACME", body: '{"a":1}', sender } as const;
  return await askAsPlanned(play, { kind: "gpsPosition", request }, ({ status }) => status === 200);
}

const reasons = (reasonCode: number) => JSON.stringify({ Reasons: [{ description: "no", reasonCode }] });

test("an answer 429 or 503 with Retry-After is waited for, counted, and the request sent again", async () => {
  const later = { headers: { "retry-after": "0" }, body: reasons(999) };
  const rig = await rigWith({ status: 503, ...later }, { status: 429, ...later }, { status: 200 });
  expect((await askOnce(rig))?.status).toBe(200);
  expect(rig.seen.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}', '{"a":1}']);
  expect(rig.play.tally).toMatchObject({ waits: 2, retries: 0, refusalCount: 0, answers: { "200": 1 } });
});

test("a request whose connection breaks is sent again", async () => {
  const rig = await rigWith({ status: 0 }, { status: 200 });
  expect((await askOnce(rig))?.status).toBe(200);
  expect(rig.play.tally).toMatchObject({ retries: 1, refusalCount: 0 });
});

test("a refusal is kept in full, and the play goes on", async () => {
  const rig = await rigWith({ status: 409, body: reasons(981) });
  expect(await askOnce(rig)).toBeUndefined();
  expect(rig.play.tally).toMatchObject({
    answers: { "409 981": 1 },
    refusalCount: 1,
    refusals: [
      {
        kind: "gpsPosition",
        path: "POST /v5/event/gps/ACME",
        request: '{"a":1}',
        status: 409,
        answer: reasons(981),
      },
    ],
  });
  expect(rig.play.signal.aborted).toBe(false);
});

test("a refused sign-in ends the play: each further one would count as a failed sign-in", async () => {
  const rig = await rigWith({ status: 401, body: reasons(930) });
  expect(await askOnce(rig)).toBeUndefined();
  expect(rig.play.signal.aborted).toBe(true);
});

test("a ban is not waited for", async () => {
  const rig = await rigWith({ status: 429, headers: { "retry-after": "1800" }, body: reasons(933) });
  expect(await askOnce(rig)).toBeUndefined();
  expect(rig.play.tally.waits).toBe(0);
  expect(rig.play.signal.aborted).toBe(true);
});

test("host and drivers sign in with Basic at once, each as themselves", async () => {
  const rig = await rigWith({ status: 200 }, { status: 200 });
  await askOnce(rig);
  await askOnce(rig, "ann");
  const signIns = rig.seen.map(({ authorization = "" }) =>
    Buffer.from(authorization.replace("Basic ", ""), "base64").toString(),
  );
  expect(signIns).toEqual(["host:p1", "ann:p2"]);
});
