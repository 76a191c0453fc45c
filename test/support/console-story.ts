/**
 * A site with all that pages of the console show: two companies with users of each role, files in each state, a load on its
 * day, deliveries that wait, went and died, a paused target, a remote that nobody answers, a banned address.
 * It is played once in a run of the tests; each story goes on with a copy, and a daemon of its own.
 *
 *   const story = await ConsoleStory.open();
 *   … story.site.http, story.files.unknownCarrier.name …
 *   await story.end();
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { curl } from "./clients.ts";
import { consoleUsers, makeConsoleSite, otherCompany } from "./console.ts";
import { company, oneParser, type Settings, Site } from "./daemon.ts";
import { importLoads, outcome, post } from "./gateway-client.ts";
import { type Receiver, reply, startReceiver } from "./receiver.ts";
import { onceInRun } from "./run-folder.ts";
import { leaveState, replaceState } from "./site-template.ts";
import { carrier, put, receiptFor, stopFile, writeLocally } from "./stop-files.ts";
import { hostileFiles } from "./hostile-texts.ts";
import { waitFor } from "./wait-for.ts";

/** One address of the loopback network guesses passwords, and is banned. */
export const bannedAddress = "127.0.0.77";

/** Has to change the password before anything else; the others are `consoleUsers`. */
export const newcomer = "fay";

export const files = {
  applied: stopFile("4711"),
  changed: stopFile("4711", { time: "090000", more: "<ShipToAddr2>Back door</ShipToAddr2>" }),
  unknownCarrier: stopFile("4712", { more: carrier("SPEEDY"), stopFunction: "03" }),
  alsoUnknownCarrier: stopFile("4713", { more: carrier("SPEEDY"), stopFunction: "03" }),
  faulty: { ...stopFile("4714"), content: "<Stop><StopNbr>4714</StopNbr><Colour>red</Colour></Stop>" },
  late: stopFile("4711", { time: "070000" }),
  /** Its end is not there yet: what comes behind it waits. */
  half: { ...stopFile("4715"), content: String(stopFile("4715").content).slice(0, 200) },
  waiting: stopFile("4715", { time: "090000" }),
  foreign: stopFile("9001"),
} as const;

export const load = { loadNbr: "L-100", stops: ["4721", "4722", "4723"] } as const;

const now = () => new Date().toISOString().slice(0, 19);

function targetTo(url: string): Settings {
  return { type: "https", url, allowPlain: true };
}

/** The receivers answer as the story needs it: the first does not know dropgate's password, the second wants no file. */
interface Receivers {
  readonly shut: Receiver;
  readonly picky: Receiver;
}

async function startReceivers(): Promise<Receivers> {
  const [shut, picky] = await Promise.all([startReceiver(), startReceiver()]);
  shut.always(reply(401, {}, "who are you?"));
  picky.always(reply(422, {}, "no <b>bold</b> files"));
  return { shut, picky };
}

function settingsFor({ shut, picky }: Receivers): Settings {
  const partner = { type: "ftp", host: "127.0.0.1", port: 1, user: "acme", password: "env:PARTNER_PASSWORD" };
  return {
    security: { wrongPasswordDelayMs: 0, bans: { maxScore: 4, banMs: 3_600_000, allow: ["127.0.0.1/32"] } },
    inbound: { ...oneParser, settleMs: 100, scanMs: 500 },
    console: { operators: [`operator@${company}`] },
    // Programs of tests are slow to send what they have begun, when many run at once.
    http: { headersTimeoutMs: 60_000 },
    companies: {
      [company]: {
        outbound: {
          targets: { outbound: { type: "folder" }, host: targetTo(shut.url), shop: targetTo(picky.url) },
          exports: { nightly: { schedule: "0 0 1 1 *", form: "document" } },
        },
        remotes: {
          partner: { ...partner, allowPlain: true, directory: "out", after: "leave", everyMs: 5_000 },
        },
      },
    },
  };
}

/** What its daemon is started with. */
export const storyEnv = { PARTNER_PASSWORD: "nobody" };

async function addNewcomer(site: Site): Promise<void> {
  const { password } = site;
  const users = [
    { userName: newcomer, password, forcePwdChg: true, userRoles: [{ role: consoleUsers.inquiry.roles[0] }] },
  ];
  const told = await outcome(
    post(site, "/v5/user/update", { companyCode: company, users }, { userName: "operator" }),
  );
  if (told !== "200") throw new Error(`the user was answered with ${told}`);
}

const at = (kilometres: number) => ({
  latitude: 39.7 + kilometres * 0.009,
  longitude: -89.6 + kilometres * 0.004,
});

function plannedLoad(): object {
  const stops = load.stops.map((stopNbr, index) => ({
    stopNbr,
    stopType: "DO",
    to: { address: { addr1: `${index} First Street`, city: "Springfield", ...at(4 + index * 3) } },
    stopDetails: [{ stopDetailSeq: 1, productIdentifier: "APL", quantity: 4 }],
  }));
  const { latitude: originLatitude, longitude: originLongitude } = at(0);
  const origin = { originName: "Depot 7", originAddr1: "1 Depot Road", originLatitude, originLongitude };
  const loadHeader = { loadNbr: load.loadNbr, loadTimeZone: "America/Chicago", ...origin };
  return { loadHeader, stops, loadAssignment: { driverUserName: "driver" } };
}

/** The first stop is delivered, the second reached, the third ahead. */
async function driveLoad(site: Site): Promise<void> {
  await importLoads(site, [plannedLoad()]);
  const report = async (eventCode: string, place: object, stopNbr?: string) => {
    const geoStamp = { eventDTTM: now(), eventTz: "UTC", ...place };
    const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
    const body = { eventCode, geoStamp, routeNbr: load.loadNbr, ...data };
    const told = await outcome(post(site, "/v5/event/route", body, { userName: "driver" }));
    if (told !== "200") throw new Error(`${eventCode} was answered with ${told}`);
  };
  await report("route.initiated", at(0));
  await report("route.origin.depart", at(0));
  for (const step of ["arrival", "confirmation", "departure"])
    await report(`stop.dropoff.${step}`, at(4), load.stops[0]);
  const geoStamp = { eventDTTM: now(), eventTz: "UTC", ...at(6) };
  await post(site, "/v5/event/gps", { geoStamp, routeNbr: load.loadNbr }, { userName: "driver" });
  await report("stop.dropoff.arrival", at(7), load.stops[1]);
}

/** Files of the other company come over its legacy web service, where no key is needed. */
async function sendForeign(site: Site): Promise<void> {
  await writeLocally(site, [files.foreign]);
  await writeFile(
    join(site.stateDir, "companies", otherCompany, "inbound", files.foreign.name),
    files.foreign.content,
  );
  await waitFor(
    "the foreign file",
    async () => (await site.json<unknown[]>("files", "--stop", "9001")).length === 1,
  );
}

/** Has the address banned; bans end with the daemon. */
export async function guessPasswords(site: Site): Promise<void> {
  const way = ["--interface", bannedAddress, "-o", "/dev/null", `${site.http}/v5/stop/info/NONE/${company}`];
  for (let index = 0; index < 5; index += 1) await curl(site, way, { password: `guess ${index}` });
}

async function sendFiles(site: Site): Promise<void> {
  const { applied, changed, unknownCarrier, alsoUnknownCarrier, faulty, late, half, waiting } = files;
  await put(site, applied);
  await receiptFor(site, applied.name);
  const decided = [changed, unknownCarrier, alsoUnknownCarrier, faulty, ...hostileFiles];
  await put(site, ...decided);
  for (const { name } of decided) await receiptFor(site, name);
  await put(site, late);
  await receiptFor(site, late.name);
  await writeFile(site.path("inbound", half.name), half.content);
  await site.daemon.waitForLog(({ msg, file }) => msg.startsWith("a file ends in") && file === half.name);
  await put(site, waiting);
}

interface DeliveryView {
  readonly target: string;
  readonly state: string;
  readonly fault: string | null;
}

async function deliveriesAreDecided(site: Site): Promise<boolean> {
  const all = await site.json<readonly DeliveryView[]>("deliveries");
  const has = (target: string, fits: (view: DeliveryView) => boolean) =>
    all.some((view) => view.target === target && fits(view));
  return (
    has("outbound", ({ state }) => state === "delivered") &&
    has("shop", ({ state }) => state === "dead") &&
    has("host", ({ fault }) => fault === "credentials")
  );
}

async function play(folder: string): Promise<void> {
  const receivers = await startReceivers();
  const site = await makeConsoleSite(settingsFor(receivers));
  try {
    await site.start({ env: storyEnv });
    await addNewcomer(site);
    await sendFiles(site);
    await sendForeign(site);
    await driveLoad(site);
    await guessPasswords(site);
    await waitFor("deliveries of each kind", () => deliveriesAreDecided(site));
    await site.json("export");
    await site.stop();
    await leaveState(site, folder);
  } finally {
    await site.end();
    await endAll(receivers);
  }
}

async function endAll({ shut, picky }: Receivers): Promise<void> {
  await Promise.all([shut.end(), picky.end()]);
}

export class ConsoleStory {
  readonly site: Site;
  /** The server behind the target `host`: it refuses dropgate's password until a test lets it. */
  readonly shut: Receiver;
  /** The server behind the target `shop`: it refuses each file. */
  readonly picky: Receiver;

  private constructor(site: Site, receivers: Receivers) {
    this.site = site;
    this.shut = receivers.shut;
    this.picky = receivers.picky;
  }

  static async open(): Promise<ConsoleStory> {
    const played = await onceInRun("console-story", play);
    const receivers = await startReceivers();
    const site = await Site.make(settingsFor(receivers));
    await replaceState(site, played);
    await site.start({ env: storyEnv });
    return new ConsoleStory(site, receivers);
  }

  async end(): Promise<void> {
    await this.site.end();
    await endAll(this);
  }
}
