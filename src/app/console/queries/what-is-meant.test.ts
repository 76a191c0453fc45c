import { expect, test } from "vitest";
import type { FindFound } from "../../../endpoints/http/console/pages/find/find-view.ts";
import { whatIsMeant } from "./what-is-meant.ts";

type Found = Parameters<typeof whatIsMeant>[0];

const stop = (stopNbr: string, company = "ACME"): FindFound["stops"][number] => ({
  ...{ company, stopNbr, by: "number", status: "created", isReceived: false, loadNbr: null, updatedAt: 1 },
});
const load = (loadNbr: string): FindFound["loads"][number] => ({
  ...{ company: "ACME", loadNbr, by: "number", status: "planned", updatedAt: 1 },
});
const order = (orderNbr: string): FindFound["orders"][number] => ({
  ...{ company: "ACME", orderNbr, isCancelled: false, stopStatus: null, updatedAt: 1 },
});
const file = (name: string, company = "ACME"): FindFound["files"][number] => ({
  ...{ reference: `of ${name}`, company, name, state: "applied", stopNbr: null, receivedAt: 1, decidedAt: 2 },
  ...{
    channel: "sftp",
    user: null,
    size: 1,
    sha256: null,
    reason: null,
    remedy: null,
    canRetry: false,
    pruned: null,
  },
});
const delivery = (name: string): FindFound["deliveries"][number] => ({
  ...{ company: "ACME", guid: `of ${name}`, name, target: "erp", state: "delivered", createdAt: 1 },
  ...{ faultText: null, remedy: null },
});
const document = { company: "ACME", guid: "g", name: null, sha256: "a", size: 1, createdAt: 1 };
const user = (userName: string) => ({ userId: 7, userName, isEnabled: true, companies: ["ACME"] });
const place = (name: string) => ({ kind: "target", company: "ACME", name, title: null }) as const;
const found = (some: Partial<Found>): Found => ({
  ...{ files: [], stops: [], loads: [], orders: [], deliveries: [], documents: [], users: [], places: [] },
  ...some,
});

const ofStop = { kind: "stop", company: "ACME", number: "47 11" };

test.each<[string, Partial<Found>, unknown]>([
  ["nothing", {}, null],
  ["a file", { files: [file("a.xml")] }, { kind: "file", reference: "of a.xml" }],
  ["two files", { files: [file("a.xml"), file("b.xml")] }, null],
  ["a load", { loads: [load("L1")] }, { kind: "load", company: "ACME", number: "L1" }],
  ["a delivery", { deliveries: [delivery("d.xml")] }, { kind: "delivery", guid: "of d.xml" }],
  ["an order, which has no page", { orders: [order("O1")] }, null],
  ["a document, which has no page", { documents: [document] }, null],
  ["a file and a delivery", { files: [file("a.xml")], deliveries: [delivery("a.xml")] }, null],
  [
    "a stop with its order, files and deliveries",
    {
      stops: [stop("47 11")],
      orders: [order("47 11")],
      files: [file("47-11_20261105_080000.xml"), { ...file("x.xml"), stopNbr: "47 11" }],
      deliveries: [delivery("47-11_20261105_090000.xml")],
    },
    ofStop,
  ],
  ["a stop and a load of its number", { stops: [stop("47 11")], loads: [load("47 11")] }, null],
  [
    "a stop and a file of another",
    { stops: [stop("47 11")], files: [file("47-112_20261105_080000.xml")] },
    null,
  ],
  [
    "a stop and a file of another company",
    { stops: [stop("1")], files: [file("1_20261105_080000.xml", "B")] },
    null,
  ],
  ["a user", { users: [user("47 11 x")] }, { kind: "user", userId: 7 }],
  ["a target", { places: [place("erp")] }, { kind: "place", place: place("erp") }],
  ["a user and a target", { users: [user("erp")], places: [place("erp")] }, null],
  ["a stop, and a user whose name begins so", { stops: [stop("47 11")], users: [user("47 11 x")] }, ofStop],
  ["a stop, and a target of just that name", { stops: [stop("47 11")], places: [place("47 11")] }, null],
  ["stops of two companies", { stops: [stop("1"), stop("1", "B")] }, null],
])("%s", (_, some, meant) => {
  expect(whatIsMeant(found(some), "47 11")).toEqual(meant);
});
