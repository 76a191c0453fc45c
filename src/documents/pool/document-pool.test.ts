import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { amount, sampled } from "../../../test/support/sampled.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { createDocumentPool, type DocumentPool, type DocumentPoolOptions } from "./document-pool.ts";
import { hashFileOnce, readFileOnce } from "../reading/read-file-once.ts";

const never = new AbortController().signal;
const log = createLogger({ level: "silent" });
const pools: DocumentPool[] = [];
let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "document-pool-"));
});

afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.stop(AbortSignal.abort());
  rmSync(directory, { recursive: true });
});

/** For tests that leave nothing in hand. */
const common = createDocumentPool({ log });
beforeAll(() => common.start(never));
afterAll(() => common.stop(never));

async function started(options: Partial<DocumentPoolOptions> = {}): Promise<DocumentPool> {
  const pool = createDocumentPool({ log, ...options });
  pools.push(pool);
  await pool.start(never);
  return pool;
}

function stop(stopNbr: string, content = ""): string {
  return `<Stop><Function>01</Function><StopNbr>${stopNbr}</StopNbr>${content}</Stop>`;
}

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Takes long to check, whatever the machine: each of its faults has a path that has to be counted out. */
function slow(count: number): string {
  const details = "<StopDetail><Weight>x</Weight></StopDetail>".repeat(count);
  return `<Stop><StopDetails>${details}</StopDetails></Stop>`;
}

const fat = `<Stop>${"<a/>".repeat(600_000)}</Stop>`;

test("a file is answered with hash, size, JSON text and the values that are indexed", async () => {
  const content = `<SealNbr>007</SealNbr><MarkAsReceived>Y</MarkAsReceived><ReceivedDTTM>2026-1-2T3:4:5</ReceivedDTTM>
    <PickupEarliestDTTM>2026-11-05T08:00:00</PickupEarliestDTTM><StopDetails><StopDetail/></StopDetails>
    <StopAssignment><CarrierCode>C1</CarrierCode></StopAssignment>`;
  const text = stop("A1", content);
  const document = await common.prepareFile(file("a.xml", text));
  expect(document).toMatchObject({ kind: "read", sha256: sha256(text), size: text.length });
  const [instruction] = document.kind === "read" ? document.instructions : [];
  expect(instruction).toMatchObject({ function: "01", stopNbr: "A1" });
  expect(JSON.parse(instruction?.stopJson ?? "")).toMatchObject({
    stopNbr: "A1",
    sealNbr: "007",
    markAsReceived: true,
  });
  expect(instruction?.index).toEqual({
    ...{ sealNbr: "007", carrierCode: "C1", hasStopAssignment: true, markAsReceived: true },
    ...{ receivedDttm: "2026-01-02T03:04:05", hasTimeWindow: true },
  });
});

test("hundreds of documents at once are each answered with their own result", async () => {
  const numbers = Array.from({ length: 500 }, (_, index) => String(index));
  const answers = await Promise.all(numbers.map((number) => common.prepareBytes(Buffer.from(stop(number)))));
  const read = answers.map((answer) =>
    answer.kind === "read" ? answer.instructions[0]?.stopNbr : answer.kind,
  );
  expect(read).toEqual(numbers);
});

test("a refused document is answered with its faults, its hash and what is known of it", async () => {
  const text = stop("A1", "<Nope/>");
  const expected = { kind: "refused", sha256: sha256(text), firstStopNbr: "A1", firstFunction: "01" };
  expect(await common.prepareBytes(Buffer.from(text))).toMatchObject(expected);
});

test("what is no regular file is unreadable, and none of it blocks", async () => {
  const real = file("real.xml", stop("1"));
  symlinkSync(real, join(directory, "link.xml"));
  mkdirSync(join(directory, "folder.xml"));
  execFileSync("mkfifo", [join(directory, "fifo.xml")]);
  const codeOf = async (name: string) => {
    const document = await common.prepareFile(join(directory, name));
    return document.kind === "unreadable" ? document.systemCode : document.kind;
  };
  expect(await codeOf("real.xml")).toBe("read");
  expect(await codeOf("link.xml")).toBe("ELOOP");
  expect(await codeOf("folder.xml")).toBe("ENOTREG");
  expect(await codeOf("fifo.xml")).toBe("ENOTREG");
  expect(await codeOf("none.xml")).toBe("ENOENT");
  expect(await codeOf("nul\u0000.xml")).toBe("ERR_INVALID_ARG_VALUE");
});

test("a file over the limit is refused by its size: nothing of it is read, however large it is", async () => {
  const pool = await started({ limits: { maxBytes: 1_000 }, deadlineMs: 1_000 });
  const path = file("large.xml", stop("1"));
  const size = 2 ** 40;
  truncateSync(path, size);
  expect(await pool.prepareFile(path)).toMatchObject({
    kind: "refused",
    sha256: null,
    size,
    faults: [{ code: "tooLarge" }],
  });
});

test("other limits hold for what comes after them, also in threads that take the place of others", async () => {
  const pool = await started({ threads: 1, maxParserMb: 40, limits: { maxBytes: 1_000, maxStops: 1 } });
  const large = file("large.xml", stop("A1", `<BOL>${" ".repeat(2_000)}</BOL>`));
  const two = file("two.xml", `<Stops>${stop("A1")}${stop("A2")}</Stops>`);
  const both = async () => [(await pool.prepareFile(large)).kind, (await pool.prepareFile(two)).kind];
  expect(await both()).toEqual(["refused", "refused"]);
  pool.configure({ limits: { maxStops: 2 } });
  expect(await both()).toEqual(["read", "read"]);
  // Threads end on it, and others come.
  expect(JSON.stringify(await pool.prepareFile(file("fat.xml", fat)))).toContain("over its memory");
  expect(await both()).toEqual(["read", "read"]);
  pool.configure({ limits: { maxBytes: 1_000, maxStops: 1 } });
  expect(await both()).toEqual(["refused", "refused"]);
});

test("each part of a file that is read shows as progress, so that a slow disk is not taken for a slow document", () => {
  const path = file("slow.xml", "x".repeat(3_500_000));
  let [whole, hashed] = [0, 0];
  expect(
    readFileOnce(path, 4_000_000, () => {
      whole += 1;
    }).kind,
  ).toBe("bytes");
  expect(
    hashFileOnce(path, () => {
      hashed += 1;
    }),
  ).toMatchObject({
    kind: "hashed",
    size: 3_500_000,
  });
  expect(whole).toBeGreaterThanOrEqual(4);
  expect(hashed).toBeGreaterThanOrEqual(14);
});

test("a document that takes the parser over its time is refused after one retry, and the others go on", async () => {
  const pool = await started({ deadlineMs: 400 });
  const text = slow(19_000);
  const others = () =>
    Promise.all(["1", "2", "3"].map((number) => pool.prepareBytes(Buffer.from(stop(number)))));
  const [slowly, ...rest] = await Promise.all([pool.prepareBytes(Buffer.from(text)), others(), others()]);
  expect(slowly).toMatchObject({ kind: "refused", sha256: sha256(text), faults: [{ code: "tooLarge" }] });
  expect(JSON.stringify(slowly)).toContain("over its time");
  expect(rest.flat().map((answer) => answer.kind)).toEqual(Array(6).fill("read"));
  expect((await others()).map((answer) => answer.kind)).toEqual(["read", "read", "read"]);
});

test("a document that takes the parser over its memory is refused after one retry, and the others go on", async () => {
  const pool = await started({ maxParserMb: 40 });
  const path = file("fat.xml", fat);
  const [fatly, other] = await Promise.all([
    pool.prepareFile(path),
    pool.prepareBytes(Buffer.from(stop("1"))),
  ]);
  expect(fatly).toMatchObject({
    kind: "refused",
    sha256: sha256(fat),
    size: fat.length,
    faults: [{ code: "tooLarge" }],
  });
  expect(JSON.stringify(fatly)).toContain("over its memory");
  expect(other.kind).toBe("read");
  expect((await pool.prepareBytes(Buffer.from(stop("2")))).kind).toBe("read");
});

test("documents that end threads one after the other take none with them that waited beside them", async () => {
  const pool = await started({ threads: 1, maxParserMb: 40 });
  const path = file("fat.xml", fat);
  const good = file("good.xml", stop("1"));
  const fatCount = amount(2, 4);
  const answers = (paths: readonly string[]) =>
    Promise.all(paths.map(async (name) => (await pool.prepareFile(name, { companyCode: "A" })).kind));
  const [fatly, well] = await Promise.all([
    answers(Array(fatCount).fill(path)),
    answers(Array(20).fill(good)),
  ]);
  expect(fatly).toEqual(Array(fatCount).fill("refused"));
  expect(well).toEqual(Array(20).fill("read"));
});

test("a document that takes a thread over its JavaScript heap is refused too", async () => {
  const pool = await started({ maxHeapMb: 24, limits: { maxDetails: 1_000_000 } });
  const heavy = stop(
    "1",
    `<StopDetails>${"<StopDetail><Product>x</Product><Weight>1</Weight></StopDetail>".repeat(200_000)}</StopDetails>`,
  );
  const document = await pool.prepareBytes(Buffer.from(heavy));
  expect(document).toMatchObject({ kind: "refused", faults: [{ code: "tooLarge" }] });
  expect(JSON.stringify(document)).toContain("over its memory");
  expect((await pool.prepareBytes(Buffer.from(stop("2")))).kind).toBe("read");
});

test("a pool may be stopped at every moment of its start, and of a thread's that takes another's place", async () => {
  const begun = performance.now();
  await (await started({ threads: 1 })).stop(never);
  const tookMs = performance.now() - begun;
  // A thread that is ended amid its loading takes this whole process with it.
  for (const part of sampled([...Array(12).keys()], 3)) {
    const pool = createDocumentPool({ log });
    const start = pool.start(AbortSignal.timeout(Math.round((tookMs * part) / 12)));
    await start.catch((error: Error) => expect(error.message).toContain("aborted"));
    await pool.stop(AbortSignal.abort());
  }
  const pool = await started({ threads: 1, maxParserMb: 40 });
  // Where the stop meets it depends on the machine: while the document is taken up again, or when it is refused already.
  const outcome = pool.prepareBytes(Buffer.from(fat)).then(
    ({ kind }) => kind,
    ({ code }: { code: string }) => code,
  );
  await sleep(tookMs);
  await pool.stop(AbortSignal.abort());
  expect(["overloaded", "refused"]).toContain(await outcome);
});

test("an aborted request rejects at once and leaves no listener behind", async () => {
  const pool = await started({ threads: 1 });
  const controller = new AbortController();
  const long = pool.prepareBytes(Buffer.from(slow(6_000)), {}, controller.signal);
  const quick = pool.prepareBytes(Buffer.from(stop("1")));
  controller.abort(new Error("enough"));
  await expect(long).rejects.toThrow("enough");
  expect((await quick).kind).toBe("read");
  await expect(pool.prepareBytes(Buffer.from(stop("1")), {}, controller.signal)).rejects.toThrow("enough");
});

test("documents that take long keep nobody waiting but their own company", async () => {
  const pool = await started();
  let done = 0;
  const ofHostile = { companyCode: "HOSTILE" };
  for (let nth = 0; nth < 4; nth += 1) {
    const long = pool.prepareBytes(Buffer.from(slow(19_000)), ofHostile);
    // They are given up at the end.
    void long.catch(() => undefined).then(() => (done += 1));
  }
  // From the next turn on all threads are at it.
  await sleep(0);
  for (let round = 0; round < 5; round += 1) {
    const ofOther = { companyCode: "OTHER" };
    expect((await pool.prepareBytes(Buffer.from(stop("1")), ofOther)).kind).toBe("read");
    // One of our own, as the self-check has it.
    expect((await pool.prepareBytes(Buffer.from(stop("1")))).kind).toBe("read");
  }
  expect(done).toBe(0);
});

test("a batch holds as many as its bytes allow, so that small documents behind large ones wait for few", async () => {
  const many = await started({ threads: 1 });
  const text = stop("1", "<Comment>x</Comment>".padEnd(300_000));
  const finished: string[] = [];
  const noted = (name: string, answer: Promise<unknown>) => answer.then(() => finished.push(name));
  const path = file("large.xml", text);
  const large = Array.from({ length: 12 }, (_, index) =>
    noted(`A${index}`, many.prepareFile(path, { companyCode: "A", size: text.length })),
  );
  const other = noted("B", many.prepareBytes(Buffer.from(stop("2")), { companyCode: "B" }));
  await Promise.all([...large, other]);
  // The batch in hand and the one that lies ready, of one document each.
  expect(finished.indexOf("B")).toBeLessThanOrEqual(2);
});

test("bodies that take long keep the files of their own company not waiting", async () => {
  const pool = await started();
  const origin = { companyCode: "HOSTILE" };
  let done = 0;
  for (let nth = 0; nth < 4; nth += 1)
    void pool
      .prepareBytes(Buffer.from(slow(19_000)), origin)
      .catch(() => undefined)
      .then(() => (done += 1));
  await sleep(0);
  const path = file("quick.xml", stop("1"));
  for (let round = 0; round < 5; round += 1) expect((await pool.prepareFile(path, origin)).kind).toBe("read");
  expect(done).toBe(0);
});

test("large documents leave a thread to small ones, of their own line and company too", async () => {
  const pool = await started();
  const origin = { companyCode: "HOSTILE" };
  const large = file("large.xml", `${slow(19_000)}<!--${"x".repeat(2 ** 20)}-->`);
  const { size } = statSync(large);
  const bytes = Buffer.from(readFileSync(large));
  let done = 0;
  const answered = () => {
    done += 1;
  };
  for (let nth = 0; nth < 2; nth += 1) {
    void pool.prepareFile(large, { ...origin, size }).then(answered, answered);
    void pool.prepareBytes(bytes, origin).then(answered, answered);
  }
  await sleep(0);
  for (let round = 0; round < 5; round += 1) {
    expect((await pool.prepareBytes(Buffer.from(stop("1")), origin)).kind).toBe("read");
    expect((await pool.prepareBytes(Buffer.from(stop("1")))).kind).toBe("read");
  }
  expect(done).toBe(0);
});

/** How many threads of this process have each priority. */
function threadsAt(nice: number): number {
  return readdirSync("/proc/self/task").filter((id) => {
    const stat = readFileSync(`/proc/self/task/${id}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]) === nice;
  }).length;
}

test.skipIf(process.platform !== "linux")(
  "the threads of large documents step back behind all others, those of small ones do not",
  async () => {
    const own = getPriority();
    const before = threadsAt(own + 5);
    const pool = await started({ threads: 2 });
    expect(threadsAt(own + 5) - before).toBe(0);
    const large = Buffer.from(stop("1", `<!--${"x".repeat(2 ** 20)}-->`));
    expect((await pool.prepareBytes(large)).kind).toBe("read");
    expect(threadsAt(own + 5) - before).toBe(1);
    expect((await pool.prepareBytes(Buffer.from(stop("2")))).kind).toBe("read");
    expect(getPriority(process.pid)).toBe(own);
  },
);

test("a stopping pool finishes what it has and takes no more", async () => {
  const pool = await started();
  const inHand = pool.prepareBytes(Buffer.from(stop("1")));
  const stopped = pool.stop(never);
  await expect(pool.prepareBytes(Buffer.from(stop("2")))).rejects.toMatchObject({ code: "overloaded" });
  expect((await inHand).kind).toBe("read");
  await stopped;
  await pool.stop(never);
});

test("a pool whose time to stop is over rejects what is still in hand", async () => {
  const pool = await started({ threads: 1 });
  const inHand = pool.prepareBytes(Buffer.from(slow(6_000)));
  const rejected = expect(inHand).rejects.toMatchObject({ code: "overloaded" });
  await pool.stop(AbortSignal.abort());
  await rejected;
});
