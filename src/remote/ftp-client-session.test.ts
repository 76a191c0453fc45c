/** What a session makes of servers that know less than the protocol; those that know it are in test/integration/targets-ftp*. */
import { describe, expect, onTestFinished, test } from "vitest";
import { type ScriptedFtp, startScriptedFtp } from "../../test/support/scripted-ftp.ts";
import { FtpClientSession } from "./ftp-client-session.ts";
import type { RemoteSession } from "./remote-session.ts";

async function signedIn(): Promise<{ readonly server: ScriptedFtp; readonly session: RemoteSession }> {
  const server = await startScriptedFtp();
  const session = new FtpClientSession({
    ...{
      kind: "ftp",
      host: "127.0.0.1",
      port: server.port,
      user: "u",
      password: "hunter2",
      security: "plain",
    },
    ...{ ca: undefined, certificateFingerprint: undefined },
    times: { connectMs: 60_000, silenceMs: 60_000, keepMs: 60_000 },
  });
  onTestFinished(async () => {
    session.destroy();
    await server.end();
  });
  await session.open(() => undefined);
  server.commands.length = 0;
  return { server, session };
}

const home = { directory: undefined, inner: undefined, makesFolders: false };

describe("an FTP session", () => {
  test("is open from its sign-in to its end, and says so", async () => {
    const { session } = await signedIn();
    expect(session.isOpen).toBe(true);
    session.end();
    expect(session.isOpen).toBe(false);
  });

  test("that is refused says so without the password", async () => {
    const server = await startScriptedFtp();
    onTestFinished(() => server.end());
    server.replies.set("PASS", "530 hunter2 is not the password");
    const session = new FtpClientSession({
      ...{ kind: "ftp", host: "127.0.0.1", port: server.port, user: "u", password: "hunter2" },
      ...{ security: "plain", ca: undefined, certificateFingerprint: undefined },
      times: { connectMs: 60_000, silenceMs: 60_000, keepMs: 60_000 },
    });
    const steps: string[] = [];
    const fault = await session.open((step) => steps.push(step)).catch((thrown: unknown) => thrown);
    expect(steps).toEqual(["connecting", "signing in"]);
    expect(fault).toMatchObject({ outcome: { fault: "credentials", isPermanent: true } });
    expect(String(fault)).not.toContain("hunter2");
    expect(session.isOpen).toBe(false);
  });

  test("enters a folder once, makes what is missing when it may, part by part, and else says what is missing", async () => {
    const { server, session } = await signedIn();
    const place = { directory: "out/new", inner: "x1", makesFolders: true };
    server.replies.set("CWD out/new", "550 Failed to change directory.");
    await session.enter(place);
    expect(server.commands).toEqual([
      ...["CWD /", "CWD out/new", "MKD out", "CWD out", "MKD new", "CWD new", "CWD x1"],
    ]);
    server.commands.length = 0;
    await session.enter(place);
    expect(server.commands).toEqual(["NOOP"]);
    server.replies.set("CWD gone", "550 Failed to change directory.");
    await expect(session.enter({ ...home, directory: "gone" })).rejects.toMatchObject({
      outcome: { fault: "missingFolder" },
    });
    server.commands.length = 0;
    await session.enter(home);
    expect(server.commands).toEqual(["CWD /"]);
  });

  test("asks for the size of a file, and a server that does not know SIZE by the first half of a rename", async () => {
    const { server, session } = await signedIn();
    server.files.set("a.xml", Buffer.from("12345"));
    expect(await session.look("a.xml")).toEqual({ size: 5, isFile: true });
    expect(await session.look("b.xml")).toBeUndefined();
    server.replies.set("SIZE", "502 not implemented");
    expect(await session.look("a.xml")).toEqual({ size: undefined, isFile: true });
    expect(await session.look("b.xml")).toBeUndefined();
    server.replies.set("SIZE", "421 too many");
    await expect(session.look("a.xml")).rejects.toMatchObject({ outcome: { fault: "busy" } });
  });

  test("asks a server that does not know MDTM once, and one that does not know the file again", async () => {
    const { server, session } = await signedIn();
    server.files.set("a.xml", Buffer.from("1"));
    server.times.set("a.xml", "20261105080000");
    expect(await session.changedAt("a.xml")).toBe(String(Date.UTC(2026, 10, 5, 8)));
    expect(await session.changedAt("b.xml")).toBeUndefined();
    expect(await session.changedAt("a.xml")).toBeDefined();
    server.replies.set("MDTM", "500 what?");
    expect(await session.changedAt("a.xml")).toBeUndefined();
    server.commands.length = 0;
    expect(await session.changedAt("a.xml")).toBeUndefined();
    expect(server.commands).toEqual([]);
  });

  test("removes a file, also one that is gone, and not one that it may not remove", async () => {
    const { server, session } = await signedIn();
    server.files.set("a.xml", Buffer.from("1"));
    await session.remove("a.xml");
    await session.remove("a.xml");
    server.files.set("a.xml", Buffer.from("1"));
    server.replies.set("DELE", "550 Permission denied");
    await expect(session.remove("a.xml")).rejects.toMatchObject({ outcome: { fault: "notAllowed" } });
  });

  test("writes and reads back what is not longer than was asked for; what may not be read is undefined", async () => {
    const { server, session } = await signedIn();
    const bytes = Buffer.alloc(200_000, "x");
    await session.upload("a.xml", bytes);
    expect(server.files.get("a.xml")?.equals(bytes)).toBe(true);
    await session.upload("empty.xml", Buffer.alloc(0));
    expect(server.files.get("empty.xml")?.length).toBe(0);
    expect(Buffer.from((await session.read("a.xml", bytes.length)) ?? []).equals(bytes)).toBe(true);
    server.replies.set("RETR", "550 Permission denied");
    expect(await session.read("a.xml", 10)).toBeUndefined();
  });

  test("takes paths of other folders from where the sign-in has led, and stays where it is", async () => {
    const { server, session } = await signedIn();
    server.files.set("a.xml", Buffer.from("1"));
    server.commands.length = 0;
    await session.checkFolder("done");
    expect(server.commands).toEqual(["PWD", "CWD /done", "CWD /"]);
    expect(await session.isTaken("done", "a.xml")).toBe(false);
    await session.move("a.xml", "done", "a.xml");
    expect(await session.isTaken("done", "a.xml")).toBe(true);
    expect(await session.isTaken("/done", "a.xml")).toBe(true);
  });

  test("hands a file over piece by piece, and ends when a piece cannot be kept", async () => {
    const { server, session } = await signedIn();
    server.files.set("a.xml", Buffer.from("some bytes"));
    const pieces: Buffer[] = [];
    await session.download("a.xml", async (piece) => void pieces.push(Buffer.from(piece)));
    expect(Buffer.concat(pieces).toString()).toBe("some bytes");
    const full = Object.assign(new Error("the own disk is full"), { code: "ENOSPC" });
    const failed = session.download("a.xml", () => Promise.reject(full));
    await expect(failed).rejects.toThrow("the own disk is full");
  });

  test("gives a listing as it comes, and closes itself when no more of it is wanted", async () => {
    const { server, session } = await signedIn();
    for (const name of ["a.xml", "b.xml"]) server.files.set(name, Buffer.from("12"));
    const names: string[] = [];
    expect(await session.list(async (entries) => names.push(...entries.map(({ name }) => name)) > 0)).toBe(
      true,
    );
    expect(names).toEqual(["a.xml", "b.xml"]);
    expect(await session.list(async () => false)).toBe(false);
    expect(session.isOpen).toBe(false);
  });
});
