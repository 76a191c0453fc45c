/** The hostile inputs, one a row of the table. Each runs until it is worked off, or for a while when it never would be. */
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { SFTPWrapper } from "ssh2";
import { sftp } from "../support/clients.ts";
import {
  deepJson,
  deepStop,
  documentOfManyStops,
  eventWithDocuments,
  loadImportOfManyStops,
  loadOfManyStops,
  longStop,
  slowStop,
  stopImportOfManyStops,
  stopImportOfManyValues,
  stopOfManyDetails,
  stopOfManyFaults,
  stopWithDocuments,
} from "../support/hostile-content.ts";
import { carrier, fileName, type StopFile, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Attacker, attackers, type HostileGround } from "../support/hostile-ground.ts";

export interface HostileRow {
  readonly name: string;
  readonly attacker: Attacker;
  /**
   * The files of a company are applied in the order of their times, whatever it takes to read the first of them: a slow one
   * keeps its own company waiting. Such rows are shown, and held to nothing but that each file gets its receipt.
   */
  readonly keepsOwnFilesWaiting: boolean;
  run(ground: HostileGround): Promise<string>;
}

type Work = (ground: HostileGround, attacker: Attacker) => Promise<string>;

const whileMs = 10_000;

/** Again and again, so many at a time, for a while; says how the first ones were answered. */
async function keepDoing(atOnce: number, work: () => Promise<string>): Promise<string> {
  const until = performance.now() + whileMs;
  const outcomes = new Map<string, number>();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < until) {
        const outcome = await work();
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    }),
  );
  return [...outcomes].map(([outcome, count]) => `${count} × ${outcome}`).join(", ");
}

const files =
  (count: number, make: (stopNbr: string) => StopFile): Work =>
  async (ground, attacker) => {
    const made = Array.from({ length: count }, () => make(`H${ground.next()}`));
    await ground.uploadUntilReceipts(attacker, made);
    return `${count} files of ${Math.round((made[0]?.content.length ?? 0) / 1e6)} MB worked off`;
  };

function codeOf(body: string): string {
  return (
    /"reasonCode":(\d+)|ErrorMsgID="(\d+)"/
      .exec(body)
      ?.slice(1)
      .find((one) => one !== undefined) ?? ""
  );
}

/** The reason code of what there was no room for at the moment. */
const overloaded = " 999";

interface Bodies {
  readonly atOnce: number;
  readonly path: string;
  readonly type?: string;
  /** Status and reason code: a row that is answered otherwise shows something else than it says. */
  readonly expected: string;
  readonly body: (companyCode: string, run: string) => string;
}

const bodies =
  ({ atOnce, path, type, expected, body }: Bodies): Work =>
  async (ground, attacker) => {
    const isOnce = body.length < 2;
    const once = isOnce ? body(attacker.companyCode, "") : undefined;
    return await keepDoing(atOnce, async () => {
      const text = once ?? body(attacker.companyCode, String(ground.next()));
      const answer = await ground.ask(attacker, path, {
        body: text,
        ...(type === undefined ? {} : { type }),
      });
      const told = `${answer.status} ${codeOf(answer.body)}`.trim();
      if (told !== expected && !told.endsWith(overloaded))
        throw new Error(`answered ${told} instead of ${expected}: ${answer.body.slice(0, 200)}`);
      return told;
    });
  };

const hugeFileOfFolder: Work = async (ground, attacker) => {
  const name = fileName(`H${ground.next()}`);
  await ground.dropSparse(attacker, name, 8 * 1024 ** 3);
  await ground.receipts(attacker, [name]);
  return "8 GiB refused";
};

const filesOfZeros: Work = async (ground, attacker) => {
  const names = Array.from({ length: 20 }, () => fileName(`H${ground.next()}`));
  for (const name of names) await ground.dropSparse(attacker, name, 50 * 1024 ** 2);
  await ground.receipts(attacker, names);
  return "20 × 50 MiB refused";
};

const hugeFileOverSftp: Work = async (ground, attacker) => {
  const name = fileName(`H${ground.next()}`);
  const path = join(ground.site.client, name);
  await writeFile(path, "");
  await truncate(path, 1_100_000_000);
  const { exitCode } = await sftp(ground.site, [`put "${path}" "inbound/${name}"`], attacker);
  return `1.1 GB: sftp ended with ${exitCode}`;
};

const slowBodies: Work = async (ground, attacker) => {
  const head = `POST /v5/stop/update/default/${attacker.companyCode} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: ${ground.authorization(attacker)}\r\nContent-Length: 20000000\r\n\r\n`;
  const sockets = Array.from({ length: 150 }, (_, index) => ground.connect(ground.httpPort, index));
  for (const socket of sockets) socket.resume().write(head);
  const until = performance.now() + whileMs;
  while (performance.now() < until) {
    for (const socket of sockets) if (!socket.destroyed) socket.write("[");
    await pause(200);
  }
  ground.hangUp();
  return `${sockets.length} bodies, some bytes a second`;
};

const silence: Work = async (ground) => {
  for (let nth = 0; nth < 400; nth += 1)
    ground.connect(nth % 2 === 0 ? ground.site.sftpPort : ground.httpPort, nth).resume();
  await pause(whileMs);
  ground.hangUp();
  return "400 connections";
};

const wrongSignIns: Work = async (ground, attacker) => {
  const statuses = new Map<number, number>();
  let left = 10_000;
  const guess = async () => {
    while (left > 0) {
      left -= 1;
      const asking = {
        userName: `${attacker.userName}${left % 3 === 0 ? "" : left}`,
        password: `guess${left}`,
      };
      const { status } = await ground.ask(attacker, "/v5/stop/info/A1", asking);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 50 }, guess));
  return [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
};

const unreadAnswers: Work = async (ground, attacker) => {
  const path = `/v5/event/list/${attacker.companyCode}?limit=5000`;
  const one = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${ground.authorization(attacker)}\r\n\r\n`;
  for (let nth = 0; nth < 50; nth += 1) ground.connect(ground.httpPort, nth).write(one.repeat(20));
  await pause(whileMs);
  ground.hangUp();
  return "50 connections with 20 lists each";
};

/** Asks for one listing after the other without reading any answer. */
const unreadDownloads: Work = async (ground, attacker) => {
  const clients = await Promise.all(Array.from({ length: 10 }, () => ground.signedIn(attacker)));
  await Promise.all(
    clients.map(async (client) => {
      const session = await new Promise<SFTPWrapper>((resolve, reject) =>
        client.sftp((error, wrapper) => (error ? reject(error) : resolve(wrapper))),
      );
      for (let nth = 0; nth < 2_000; nth += 1) session.readdir("/archive", () => undefined);
    }),
  );
  await pause(whileMs);
  for (const client of clients) client.end();
  return "10 sessions with 2,000 listings each";
};

const frozenShare: Work = async (ground, attacker) => {
  const { share } = ground;
  if (share === undefined) return "not tried: sshfs or /dev/fuse is missing";
  for (let nth = 0; nth < 20; nth += 1) {
    const { name, content } = stopFile(`Z${ground.next()}`);
    await writeFile(join(share.path, "in", name), content);
  }
  share.freeze();
  // Changes that send completions to the target on the share.
  const outcome = await keepDoing(1, async () => {
    const body = JSON.stringify({
      companyCode: attacker.companyCode,
      stops: [{ stopNbr: `Y${ground.next()}` }],
    });
    const { status } = await ground.ask(attacker, "/v5/stop/update/default", { body });
    await pause(200);
    return String(status);
  });
  share.thaw();
  return outcome;
};

const mapping: Work = bodies({
  ...{ atOnce: 8, path: "/v5/stop/update/stuck", expected: "413 909" },
  body: () => '{"stops":[]}',
});

const eventDocuments: Work = async (ground, attacker) => {
  const [routeNbr, stopNbr] = [`R${ground.next()}`, `RS${ground.next()}`];
  const { companyCode } = attacker;
  const load = { loadHeader: { loadNbr: routeNbr }, stops: [{ stopNbr }] };
  const body = JSON.stringify({ companyCode, loads: [load] });
  const { body: imported } = await ground.ask(attacker, "/v5/load/update/default", { body });
  const { importId } = JSON.parse(imported) as { importId: string };
  await untilImported(ground, attacker, importId);
  const event = eventWithDocuments(routeNbr, stopNbr, 19_000_000);
  return await keepDoing(3, async () => {
    const { status, body: told } = await ground.ask(attacker, "/v5/event/route", { body: event });
    return `${status} ${codeOf(told)}`.trim();
  });
};

async function untilImported(ground: HostileGround, attacker: Attacker, importId: string): Promise<void> {
  await waitFor(
    "the import to be finished",
    async () => {
      const { body } = await ground.ask(attacker, `/v5/import/info/${importId}`);
      return (JSON.parse(body) as { finishedDTTM: string | null }).finishedDTTM !== null;
    },
    300_000,
  );
}

const loadImport =
  (make: (companyCode: string, run: string) => string): Work =>
  async (ground, attacker) => {
    const body = make(attacker.companyCode, String(ground.next()));
    const answer = await ground.ask(attacker, "/v5/load/update/default", { body });
    if (answer.status !== 200) return `${answer.status} ${codeOf(answer.body)}`;
    const { importId } = JSON.parse(answer.body) as { importId: string };
    await untilImported(ground, attacker, importId);
    return `${Math.round(body.length / 1e6)} MB applied`;
  };

interface Input {
  readonly name: string;
  readonly work: Work;
  /** By whom it can be sent; both unless it says so. */
  readonly by?: readonly (keyof typeof attackers)[];
  readonly isSlowFile?: true;
}

const stopsPath = "/v5/stop/update/default";

const inputs: readonly Input[] = [
  { name: "sparse file of 8 GiB in a drop folder", work: hugeFileOfFolder },
  { name: "20 files of 50 MiB zeros in a drop folder", work: filesOfZeros, isSlowFile: true },
  { name: "file of 1.1 GB over SFTP", work: hugeFileOverSftp },
  { name: "XML: 20,000 details, 12 files", work: files(12, stopOfManyDetails), isSlowFile: true },
  { name: "XML: 500 stops, 20,000 details, 8 files", work: files(8, documentOfManyStops), isSlowFile: true },
  { name: "XML: 1,500,000 faults, 6 files", work: files(6, stopOfManyFaults), isSlowFile: true },
  { name: "XML: checked for seconds each, 12 files", work: files(12, slowStop), isSlowFile: true },
  { name: "XML: 1,000,000 levels, 12 files", work: files(12, deepStop), isSlowFile: true },
  { name: "XML: 50 MB of comments, 6 files", work: files(6, longStop), isSlowFile: true },
  {
    name: "XML: documents of 35 MB, 4 files",
    work: files(4, (stopNbr) => stopWithDocuments(stopNbr, 35)),
    isSlowFile: true,
  },
  {
    name: "XML over the web service: 15 MB of faults, 8 at once",
    work: bodies({
      ...{ atOnce: 8, path: "/api/stop", type: "application/xml", expected: "200 951" },
      body: () => String(stopOfManyFaults("H0", 500_000).content),
    }),
  },
  {
    name: "JSON: 450,000 values, 4 at once",
    work: bodies({
      ...{ atOnce: 4, path: stopsPath, expected: "200" },
      body: (code) => stopImportOfManyValues(code, 450_000),
    }),
  },
  {
    name: "JSON: 6,000,000 values, 4 at once",
    work: bodies({
      ...{ atOnce: 4, path: stopsPath, expected: "413 909" },
      body: (code) => stopImportOfManyValues(code, 6_000_000),
    }),
  },
  {
    name: "JSON: 9,000,000 levels, 4 at once",
    work: bodies({
      ...{ atOnce: 4, path: stopsPath, expected: "413 909" },
      body: (code) => deepJson(code, 9_000_000),
    }),
  },
  {
    name: "JSON of an event: 450,000 values, 4 at once",
    work: bodies({
      ...{ atOnce: 4, path: "/v5/event/route", expected: "400 903" },
      body: (code) => stopImportOfManyValues(code, 450_000),
    }),
  },
  {
    name: "JSON: imports of 5,000 stops, 2 at once",
    work: bodies({
      ...{ atOnce: 2, path: stopsPath, expected: "200" },
      body: (code, run) => stopImportOfManyStops(code, run),
    }),
  },
  { name: "load import of 500 loads, 5,000 stops", work: loadImport(loadImportOfManyStops) },
  { name: "load import of one load with 5,000 stops", work: loadImport(loadOfManyStops) },
  { name: "events with documents of 14 MB, 3 at once", work: eventDocuments },
  { name: "mapping that takes its whole time, 8 at once", work: mapping },
  { name: "bodies that come slowly", work: slowBodies },
  { name: "silent connections", work: silence, by: ["other"] },
  { name: "answers that nobody reads over HTTP", work: unreadAnswers },
  { name: "answers that nobody reads over SFTP", work: unreadDownloads },
  { name: "source and target on a share that hangs", work: frozenShare, by: ["other"] },
  { name: "10,000 wrong sign-ins", work: wrongSignIns, by: ["other"] },
];

/** All rows that run one after the other on one daemon. */
export const hostileRows: readonly HostileRow[] = inputs.flatMap(({ name, work, by, isSlowFile }) =>
  (by ?? (["other", "same"] as const)).map((who) => ({
    name: `${name} (${who} company)`,
    attacker: attackers[who],
    keepsOwnFilesWaiting: isSlowFile === true && who === "same",
    run: (ground: HostileGround) => work(ground, attackers[who]),
  })),
);

/** The stop whose page is damaged, among others that fill pages of their own. */
const damagedStop = "PAGE70";

/** Stops of an attacker on pages of their own, one of which is to be damaged. */
export async function fillPages(ground: HostileGround, attacker: Attacker): Promise<void> {
  const stops = Array.from({ length: 120 }, (_, index) =>
    stopFile(`PAGE${index}`, { time: "20250101_070000" }),
  );
  await ground.uploadUntilReceipts(attacker, stops);
}

export const isDamagedPage = (page: Buffer) => page.includes(damagedStop);

/** Changes of a stop that cannot be read, and of others of its company. */
export const damagedPageRow: HostileRow = {
  name: "files for a damaged page (other company)",
  attacker: attackers.other,
  keepsOwnFilesWaiting: false,
  async run(ground) {
    const begun = performance.now();
    let second = 0;
    while (performance.now() - begun < whileMs) {
      second += 1;
      const time = `20250102_0800${String(second % 60).padStart(2, "0")}`;
      await ground.upload(attackers.other, [stopFile(damagedStop, { time, more: carrier("C1") })]);
      await pause(200);
    }
    return `${second} files held`;
  },
};
