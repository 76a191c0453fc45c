/** Uploads: when they are complete, how they are continued, and what becomes of those that break off. */
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { closeOf, type FtpTestClient } from "./testing/ftp-client.ts";
import { type FtpTestServer, startFtpServer } from "./testing/start-ftp-server.ts";

let server: FtpTestServer;
let client: FtpTestClient;

beforeAll(async () => {
  server = await startFtpServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  client = await server.signedIn();
});

function arrived(name: string): boolean {
  return server.fixture.arrivals.some((arrival) => arrival.name === name);
}

const inbound = (name: string): Promise<string> =>
  readFile(join(server.fixture.home, "inbound", name), "utf8");
const part = (name: string): Promise<string> => inbound(`.partial/1/${name}`);

/** Begins an upload, sends some of it, and sees it come. */
async function begin(path: string, content: string) {
  const socket = await client.data();
  expect(await client.code(`STOR ${path}`)).toBe(150);
  const before = server.receivedBytes;
  socket.write(content);
  await waitFor("the bytes", () => server.receivedBytes === before + content.length);
  return { socket, name: path.split("/").at(-1) ?? "" };
}

describe("an upload", () => {
  test("that the client ends in order becomes a file, empty or large", async () => {
    const large = "0123456789abcdef".repeat(200_000);
    for (const [name, content] of [
      ["empty.xml", ""],
      ["small.xml", "<Stop/>"],
      ["large.xml", large],
    ] as const) {
      expect(await client.put(`inbound/${name}`, content)).toMatchObject({ code: 226 });
      expect(await inbound(name)).toBe(content);
      expect(arrived(name)).toBe(true);
      expect((await client.command(`SIZE inbound/${name}`)).text).toBe(`213 ${content.length}`);
    }
  });

  test("needs a data connection, a name and the right", async () => {
    expect(await client.code("STOR inbound/none.xml")).toBe(425);
    expect((await client.put("", "x")).code).toBe(501);
    for (const path of ["x.xml", "archive/x.xml", "receipts/x.xml", "../x.xml", "inbound/deep/x.xml"])
      expect((await client.put(path, "x")).code, path).toBe(550);
    expect((await client.put("inbound/a\\b.xml", "x")).code).toBe(553);
    expect((await client.put("inbound/a\0b.xml", "x")).code).toBe(553);
  });

  test("to a name that is not UTF-8 is refused", async () => {
    await client.passive();
    client.send(Buffer.from([...Buffer.from("STOR inbound/"), 0xe9, 0x2e, 0x78, 0x0d, 0x0a]));
    expect((await client.answer()).code).toBe(553);
  });

  test("under a temporary name becomes a file at the rename, and never replaces one that waits", async () => {
    await client.put("inbound/r.xml.filepart", "content");
    expect(arrived("r.xml.filepart")).toBe(false);
    expect(await client.code("RNFR inbound/r.xml.filepart")).toBe(350);
    expect(await client.code("RNTO inbound/r.xml")).toBe(250);
    expect(await inbound("r.xml")).toBe("content");
    await client.put("inbound/r.xml.filepart", "other");
    await client.command("RNFR inbound/r.xml.filepart");
    expect(await client.code("RNTO inbound/r.xml")).toBe(553);
    expect(await inbound("r.xml")).toBe("content");
  });

  test("takes bytes as they are in type A, too", async () => {
    await client.command("TYPE A");
    await client.put("inbound/ascii.xml", "a\r\nb\nc\r");
    expect(await inbound("ascii.xml")).toBe("a\r\nb\nc\r");
  });

  test("of which ALLO announced more than came is a part", async () => {
    await client.command("ALLO 10");
    expect((await client.put("inbound/short.xml", "12345")).code).toBe(426);
    expect(arrived("short.xml")).toBe(false);
    expect(await part("short.xml")).toBe("12345");
    await client.command("ALLO 5");
    expect((await client.put("inbound/short.xml", "12345")).code).toBe(226);
  });

  test("that is refused ends what REST and ALLO have said: the next one is whole", async () => {
    await client.command("REST 3");
    expect((await client.put("inbound/unknown.xml", "x")).code).toBe(550);
    expect((await client.put("inbound/next.xml", "<Stop/>")).code).toBe(226);
    expect(await inbound("next.xml")).toBe("<Stop/>");
    await client.command("ALLO 1000");
    expect((await client.put("archive/x.xml", "x")).code).toBe(550);
    expect((await client.put("inbound/after.xml", "<Stop/>")).code).toBe(226);
    await client.command("REST 3");
    expect((await client.get("LIST nothing")).answer.code).toBe(550);
    await server.write("receipts/r.xml", "0123456789");
    expect((await client.get("RETR receipts/r.xml")).content).toBe("0123456789");
  });

  test("of a name that another connection is uploading is refused", async () => {
    const { socket } = await begin("inbound/twice.xml", "x");
    const other = await server.signedIn();
    expect((await other.put("inbound/twice.xml", "y")).code).toBe(550);
    socket.end();
    expect((await client.answer()).code).toBe(226);
    expect(await inbound("twice.xml")).toBe("x");
  });
});

describe("an upload that breaks off is a part, and no file", () => {
  async function expectPart(name: string, content: string): Promise<void> {
    expect(await waitFor("the part", () => part(name).catch(() => undefined))).toBe(content);
    expect(arrived(name)).toBe(false);
    expect(await readdir(join(server.fixture.home, "inbound"))).not.toContain(name);
  }

  test("by ABOR", async () => {
    const { name } = await begin("inbound/abor.xml", "half");
    client.send(Buffer.from([0xff, 0xf4, 0xff, 0xf2, ...Buffer.from("ABOR\r\n")]));
    expect((await client.answer()).code).toBe(426);
    expect((await client.answer()).code).toBe(226);
    await expectPart(name, "half");
    expect(await client.code("NOOP")).toBe(200);
  });

  test("by a reset of the data connection", async () => {
    const { name, socket } = await begin("inbound/reset.xml", "half");
    socket.resetAndDestroy();
    expect((await client.answer()).code).toBe(426);
    await expectPart(name, "half");
  });

  test("by a reset right behind its bytes, before any of them is read", async () => {
    const socket = await client.data();
    // The server has taken the connection when it answers.
    await client.code("NOOP");
    expect(await client.code("STOR inbound/behind.xml")).toBe(150);
    socket.write("half");
    socket.resetAndDestroy();
    expect((await client.answer()).code).toBe(426);
    await expectPart("behind.xml", "half");
  });

  test("by the end of the control connection, with that of the data connection right behind it", async () => {
    const { name, socket } = await begin("inbound/gone.xml", "half");
    client.socket.destroy();
    socket.end();
    await expectPart(name, "half");
    await waitFor("the end", () =>
      server.logLines.some(({ msg, file }) => msg === "upload interrupted" && file === `/inbound/${name}`),
    );
  });

  test("by the end of the control connection a moment after that of the data, whatever ALLO has said", async () => {
    for (const [announced, name] of [
      ["0", "late0.xml"],
      ["3", "late3.xml"],
    ]) {
      client = await server.signedIn();
      await client.command(`ALLO ${announced}`);
      const { socket } = await begin(`inbound/${name}`, "half");
      socket.end();
      await closeOf(socket);
      client.socket.destroy();
      await expectPart(String(name), "half");
      await waitFor("the end", () =>
        server.logLines.some(({ msg, file }) => msg === "upload interrupted" && file === `/inbound/${name}`),
      );
    }
  });

  test("by the end of the control connection alone", async () => {
    const { name, socket } = await begin("inbound/alone.xml", "half");
    client.socket.end();
    await closeOf(socket);
    await expectPart(name, "half");
  });

  test("by a change of the user", async () => {
    const { name } = await begin("inbound/changed.xml", "half");
    server.signIn.changed.set(1, undefined);
    expect((await client.answer()).code).toBe(421);
    server.signIn.changed.clear();
    await expectPart(name, "half");
  });

  describe("where the server waits a short time only", () => {
    let patient: FtpTestServer;
    beforeAll(async () => {
      patient = server;
      server = await startFtpServer({ dataTimeoutMs: 1_000 });
    });
    afterAll(async () => {
      await server.stop();
      server = patient;
    });

    test("by standing still", async () => {
      const { name } = await begin("inbound/still.xml", "half");
      expect((await client.answer()).text).toMatch(/^426 .*stood still/);
      await expectPart(name, "half");
    });

    test("when no data connection comes at all", async () => {
      await client.passive();
      client.send("STOR inbound/never.xml\r\n");
      expect((await client.answer()).code).toBe(150);
      expect((await client.answer()).code).toBe(425);
      expect(arrived("never.xml")).toBe(false);
    });
  });
});

describe("a part", () => {
  async function leavePart(name: string, content: string): Promise<void> {
    const { socket } = await begin(`inbound/${name}`, content);
    socket.resetAndDestroy();
    expect((await client.answer()).code).toBe(426);
  }

  test("is listed as what it is, and its size is told under its own name", async () => {
    await leavePart("p1.xml", "01234");
    expect((await client.get("MLSD inbound")).content).toContain("perm=awdf; .p1.xml.partial\r\n");
    expect((await client.command("SIZE inbound/p1.xml")).text).toBe("213 5");
  });

  test("is continued by APPE", async () => {
    await leavePart("p2.xml", "01234");
    expect((await client.put("inbound/p2.xml", "56789", "APPE")).code).toBe(226);
    expect(await inbound("p2.xml")).toBe("0123456789");
  });

  test("is continued by REST and STOR, at its end or before", async () => {
    for (const [name, offset, rest] of [
      ["p3.xml", 5, "56789"],
      ["p4.xml", 3, "3456789"],
      ["p5.xml", 2, "2"],
    ] as const) {
      await leavePart(name, "01234");
      await client.command(`REST ${offset}`);
      expect((await client.put(`inbound/${name}`, rest)).code).toBe(226);
      expect(await inbound(name)).toBe(`01234`.slice(0, offset) + rest);
    }
  });

  test("is not continued beyond its end, and stays as it is", async () => {
    await leavePart("p6.xml", "01234");
    await client.command("REST 6");
    expect((await client.put("inbound/p6.xml", "x")).code).toBe(554);
    expect(await part("p6.xml")).toBe("01234");
    await client.command("REST 3");
    expect((await client.put("inbound/none.xml", "x")).code).toBe(550);
  });

  test("is begun anew by STOR alone", async () => {
    await leavePart("p7.xml", "01234");
    expect((await client.put("inbound/p7.xml", "new")).code).toBe(226);
    expect(await inbound("p7.xml")).toBe("new");
  });

  test("can be removed, a file that waits cannot, nor be continued", async () => {
    await leavePart("p8.xml", "01234");
    expect(await client.code("DELE inbound/p8.xml")).toBe(250);
    await client.put("inbound/p9.xml", "whole");
    expect(await client.code("DELE inbound/p9.xml")).toBe(550);
    expect((await client.put("inbound/p9.xml", "tail", "APPE")).code).toBe(550);
    expect((await client.get("RETR inbound/p9.xml")).answer.code).toBe(550);
  });
});

describe("a download", () => {
  test("that the client breaks off is no download", async () => {
    await server.write("outbound/big.xml", "x".repeat(30_000_000));
    const socket = connect({ port: await client.passive(), host: "127.0.0.1" });
    socket.on("error", () => undefined);
    await once(socket, "connect");
    expect(await client.code("RETR outbound/big.xml")).toBe(150);
    socket.resetAndDestroy();
    expect((await client.answer()).code).toBe(426);
    expect(server.fixture.pickups).toEqual([]);
    expect((await client.get("RETR outbound/big.xml")).content).toHaveLength(30_000_000);
    expect(server.fixture.pickups).toMatchObject([{ kind: "downloaded", userName: "host" }]);
  });

  test("that broke off and is continued with REST is one in the end", async () => {
    await server.write("outbound/parts.xml", "x".repeat(30_000_000));
    const socket = connect({ port: await client.passive(), host: "127.0.0.1" });
    socket.on("error", () => undefined);
    expect(await client.code("RETR outbound/parts.xml")).toBe(150);
    await once(socket, "data");
    socket.resetAndDestroy();
    expect((await client.answer()).code).toBe(426);
    await client.command("REST 1000");
    expect((await client.get("RETR outbound/parts.xml")).content).toHaveLength(29_999_000);
    const pickups = server.fixture.pickups.filter(({ path }) => path.endsWith("parts.xml"));
    expect(pickups).toMatchObject([{ kind: "downloaded", userName: "host" }]);
  });
});
