/** Commands and their replies, over a real endpoint and a real exchange. */
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { commands } from "./commands.ts";
import type { FtpTestClient } from "./testing/ftp-client.ts";
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

describe("before the sign-in", () => {
  test("nothing but questions and the sign-in is taken", async () => {
    const stranger = await server.connect();
    const open = [
      "AUTH",
      "PBSZ",
      "PROT",
      "CCC",
      "USER",
      "PASS",
      "ACCT",
      "QUIT",
      "NOOP",
      "CLNT",
      "SYST",
      "FEAT",
    ];
    const harmless = [...open, "OPTS", "STAT", "HELP", "TYPE", "MODE", "STRU", "ABOR"];
    for (const verb of Object.keys(commands).filter((each) => !harmless.includes(each)))
      expect(await stranger.code(`${verb} x`), verb).toBe(530);
  });

  test("a wrong password, an unknown user and a user without the role are refused alike", async () => {
    const stranger = await server.connect();
    for (const [name, password] of [
      ["host", "wrong"],
      ["nobody", "secret"],
      ["driver", "secret"],
    ] as const)
      expect((await stranger.signIn(name, password)).code).toBe(530);
    expect((await stranger.signIn()).code).toBe(230);
    expect(await stranger.code("USER driver")).toBe(503);
    expect(await stranger.code("PASS secret")).toBe(503);
  });

  test("PASS comes after USER", async () => {
    expect(await (await server.connect()).code("PASS secret")).toBe(503);
  });
});

describe("questions about the server", () => {
  test.each([
    ["NOOP", 200],
    ["noop", 200],
    ["SYST", 215],
    ["HELP", 214],
    ["STAT", 211],
    ["STAT /inbound", 504],
    ["OPTS UTF8 ON", 200],
    ["OPTS UTF-8", 200],
    ["OPTS UTF8 OFF", 501],
    ["OPTS NONE", 501],
    ["CLNT x", 200],
    ["TYPE A", 200],
    ["TYPE A N", 200],
    ["TYPE I", 200],
    ["TYPE L 8", 200],
    ["TYPE E", 504],
    ["MODE S", 200],
    ["MODE B", 504],
    ["STRU F", 200],
    ["STRU R", 504],
    ["ALLO 100", 200],
    ["ALLO many", 501],
    ["ACCT x", 202],
    ["ABOR", 226],
    ["CCC", 534],
    ["AUTH TLS", 502],
    ["AUTH KERBEROS", 504],
    ["PBSZ 0", 503],
    ["PROT P", 503],
    ["PORT 127,0,0,1,4,1", 502],
    ["EPRT |1|127.0.0.1|1025|", 502],
    ["SITE CHMOD 777 inbound", 502],
    ["STOU", 502],
    ["LANG EN", 500],
    ["", 500],
    ["GET / HTTP/1.1", 500],
    ["__proto__", 500],
    ["CONSTRUCTOR", 500],
  ])("%s: %i", async (line, code) => {
    expect(await client.code(line)).toBe(code);
  });

  test("FEAT tells what there is, and which facts are chosen", async () => {
    const { text } = await client.command("FEAT");
    for (const feature of ["EPSV", "MDTM", "MLST type*;size*;modify*;perm*;", "REST STREAM", "SIZE", "UTF8"])
      expect(text).toContain(`\n ${feature}\n`);
    expect(text).not.toContain("AUTH");
    expect((await client.command("OPTS MLST size;perm;unix.mode;")).text).toBe("200 MLST OPTS size;perm;");
    expect((await client.command("FEAT")).text).toContain("MLST type;size*;modify;perm*;");
  });
});

describe("folders", () => {
  test("PWD, CWD and CDUP walk in the tree and never out of it", async () => {
    const pwd = async () => /"(.*)"/.exec((await client.command("PWD")).text)?.[1];
    expect(await pwd()).toBe("/");
    expect(await client.code("CWD inbound")).toBe(250);
    expect(await pwd()).toBe("/inbound");
    expect(await client.code("CWD ../receipts/.")).toBe(250);
    expect(await pwd()).toBe("/receipts");
    for (const path of ["CDUP", "CDUP", "CWD ../../..", "CWD /../../.."])
      expect(await client.code(path)).toBe(250);
    expect(await pwd()).toBe("/");
    for (const path of ["/etc", "../../etc", "inbound/.partial", "nowhere"])
      expect(await client.code(`CWD ${path}`), path).toBe(550);
    expect(await client.code("CWD")).toBe(501);
  });

  test("listings show folders and files, each in its form", async () => {
    await server.write("receipts/a.receipt.xml", "twelve bytes");
    const list = await client.get("LIST -la /receipts");
    expect(list.content).toMatch(
      /^-rw-.{6} +1 dropgate dropgate +12 \w{3} [ \d]\d \d\d:\d\d a\.receipt\.xml\r\n$/,
    );
    expect((await client.get("NLST /receipts")).content).toBe("/receipts/a.receipt.xml\r\n");
    expect((await client.get("MLSD receipts")).content).toMatch(
      /^type=file;size=12;modify=\d{14};perm=dr; a\.receipt\.xml\r\n$/,
    );
    expect((await client.get("LIST")).content.split("\r\n")).toHaveLength(6);
    expect((await client.get("MLSD")).content).toContain("perm=cel; inbound\r\n");
    const mlst = await client.command("MLST receipts/a.receipt.xml");
    expect(mlst.text).toMatch(/^250-Listing\n type=file;size=12;.* \/receipts\/a\.receipt\.xml\n250 End$/);
    expect((await client.get("LIST receipts/a.receipt.xml")).content).toContain("a.receipt.xml");
  });

  test("NLST takes patterns, and names what mget can ask for", async () => {
    await server.write("error/one.xml", "1");
    await server.write("error/two.txt", "2");
    expect((await client.get("NLST error/*.xml")).content).toBe("error/one.xml\r\n");
    await client.command("CWD error");
    expect((await client.get("NLST *.xml")).content).toBe("one.xml\r\n");
    expect((await client.get("NLST ???.txt")).content).toBe("two.txt\r\n");
    expect(await client.get("NLST *.none")).toMatchObject({ content: "", answer: { code: 226 } });
  });

  test("what is not there, or not a folder, cannot be listed", async () => {
    await server.write("receipts/b.receipt.xml", "x");
    expect((await client.get("LIST nowhere")).answer.code).toBe(550);
    expect((await client.get("MLSD receipts/b.receipt.xml")).answer.code).toBe(550);
    expect((await client.get("LIST /../../etc")).answer.code).toBe(550);
  });

  test("folders are made and removed only as the rights say", async () => {
    expect((await client.command("MKD outbound/done")).text).toBe('257 "/outbound/done" was made');
    expect(await client.code("MKD outbound/done")).toBe(553);
    for (const line of ["MKD inbound/x", "MKD /x", "RMD outbound/done", "RMD archive"])
      expect(await client.code(line), line).toBe(550);
  });
});

describe("files", () => {
  test("SIZE, MDTM and RETR tell and give what is there", async () => {
    await server.write("receipts/c.receipt.xml", "content");
    expect((await client.command("SIZE receipts/c.receipt.xml")).text).toBe("213 7");
    expect((await client.command("MDTM receipts/c.receipt.xml")).text).toMatch(/^213 20\d{12}$/);
    expect(await client.get("RETR receipts/c.receipt.xml")).toMatchObject({
      content: "content",
      answer: { code: 226 },
    });
    expect(await client.code("SIZE receipts")).toBe(550);
    expect(await client.code("SIZE receipts/none.xml")).toBe(550);
  });

  test("RETR goes on from REST, up to the end and not beyond", async () => {
    await server.write("receipts/d.receipt.xml", "0123456789");
    for (const [offset, content] of [
      [4, "456789"],
      [10, ""],
      [0, "0123456789"],
    ] as const) {
      expect(await client.code(`REST ${offset}`)).toBe(350);
      expect((await client.get("RETR receipts/d.receipt.xml")).content).toBe(content);
    }
    await client.command("REST 11");
    expect((await client.get("RETR receipts/d.receipt.xml")).answer.code).toBe(554);
    await client.command("REST 4");
    await client.get("NLST receipts");
    expect((await client.get("RETR receipts/d.receipt.xml")).content).toBe("0123456789");
  });

  test.each(["-1", "1e3", "0x10", "99999999999999999999", "1 2", "", "NaN", "1.5"])(
    "REST %j is refused",
    async (value) => {
      expect(await client.code(`REST ${value}`)).toBe(501);
    },
  );

  test("DELE and RNFR with RNTO do what a host may", async () => {
    await server.write("receipts/e.receipt.xml", "x");
    await server.write("outbound/f.xml", "x");
    expect(await client.code("DELE receipts/e.receipt.xml")).toBe(250);
    expect(await client.code("RNFR outbound/f.xml")).toBe(350);
    expect(await client.code("RNTO outbound/done/f.xml")).toBe(250);
    expect(await readdir(join(server.fixture.home, "outbound/done"))).toContain("f.xml");
    expect(await client.code("RNTO outbound/done/g.xml")).toBe(503);
    expect(await client.code("RNFR receipts/none.xml")).toBe(550);
    await client.command("RNFR outbound/done/f.xml");
    await client.command("NOOP");
    expect(await client.code("RNTO outbound/done/g.xml")).toBe(503);
  });

  test("times of own uploads are kept as data, by MFMT and by MDTM with a time", async () => {
    await client.put("inbound/t.xml", "x");
    expect((await client.command("MFMT 20200102030405 inbound/t.xml")).text).toBe(
      "213 Modify=20200102030405; /inbound/t.xml",
    );
    expect((await client.command("MDTM inbound/t.xml")).text).toBe("213 20200102030405");
    expect(await client.code("MDTM 20210102030405 inbound/t.xml")).toBe(213);
    expect((await client.command("MDTM inbound/t.xml")).text).toBe("213 20210102030405");
    expect(await client.code("MFMT 2020 inbound/t.xml")).toBe(501);
  });

  test("names are UTF-8 and come back as they went", async () => {
    expect((await client.put('inbound/größe "1".xml', "x")).code).toBe(226);
    expect(server.fixture.arrivals.at(-1)).toMatchObject({
      name: 'größe "1".xml',
      channel: "ftp",
      userName: "host",
    });
    expect(await readFile(join(server.fixture.home, 'inbound/größe "1".xml'), "utf8")).toBe("x");
  });

  test("nothing outside of the tree can be read, by no path and through no link", async () => {
    await writeFile(join(server.fixture.home, "../secret"), "x");
    await symlink(join(server.fixture.home, "../secret"), join(server.fixture.home, "receipts/link.xml"));
    for (const path of ["../secret", "/../../../../etc/passwd", "receipts/link.xml", "receipts/../../secret"])
      expect((await client.get(`RETR ${path}`)).answer.code, path).toBe(550);
  });
});
