import { cpuRatio } from "../../../test/support/cpu-time.ts";
import { expect, test } from "vitest";
import { readStopDocument } from "./read-stop-document.ts";

const head = "<Function>01</Function><StopNbr>1</StopNbr>";

function faultsOf(text: string) {
  const outcome = readStopDocument(Buffer.from(text));
  return outcome.kind === "refused" ? outcome.faults : [];
}

/** Line, path and the first word of each fault. */
function told(text: string): string[] {
  return faultsOf(text).map(({ line, path, message }) => `${line} ${path} ${message.split(":")[0]}`);
}

/** A document without a fault of about so many characters, each element of which is short: the floor. */
function plainOf(length: number): string {
  const comment = "<Comment>x</Comment>";
  return stop(`<Comments>${comment.repeat(Math.ceil(length / comment.length))}</Comments>`);
}

const stop = (...lines: string[]) => `<Stop>${head}\n${lines.join("\n")}\n</Stop>`;

test("a wrong value behind an unknown element is told", () => {
  expect(told(stop("<Colour>red</Colour>", "<Weight>heavy</Weight>"))).toEqual([
    "2 /Stop/Colour Colour",
    "3 /Stop/Weight Weight",
  ]);
});

test("two unknown elements of one name and one of another are all told", () => {
  expect(told(stop("<Colour/>", "<Shade/>", "<BOL>1</BOL>", "<Colour/>"))).toEqual([
    "2 /Stop/Colour[1] Colour",
    "3 /Stop/Shade Shade",
    "5 /Stop/Colour[2] Colour",
  ]);
});

test("a doubled element is told, the value of the first and those behind it too, with indexes as they were sent", () => {
  const text = stop("<Weight>heavy</Weight>", "<Weight>1</Weight>", "<Volume>large</Volume>");
  expect(told(text)).toEqual([
    "2 /Stop/Weight[1] Weight",
    "3 /Stop/Weight[2] Weight",
    "4 /Stop/Volume Volume",
  ]);
});

test("what stands in an unknown or doubled element is not told", () => {
  const details = "<StopDetails><StopDetail><Weight>x</Weight></StopDetail></StopDetails>";
  expect(told(stop("<Extra><Weight>x</Weight></Extra>", details, details))).toEqual([
    "2 /Stop/Extra Extra",
    "3 /Stop/StopDetails[1]/StopDetail/Weight Weight",
    "4 /Stop/StopDetails[2] StopDetails",
  ]);
});

test("an unknown element in one detail does not hide faults in it and in later ones", () => {
  const text = stop(
    "<StopDetails><StopDetail><Nope/><Weight>x</Weight></StopDetail>",
    "<Bogus/>",
    "<StopDetail><Quantity>y</Quantity></StopDetail>",
    "<StopDetail><Nope/><Length>z</Length></StopDetail></StopDetails>",
    "<Latitude>north</Latitude>",
  );
  expect(told(text)).toEqual([
    "2 /Stop/StopDetails/StopDetail[1]/Nope Nope",
    "2 /Stop/StopDetails/StopDetail[1]/Weight Weight",
    "3 /Stop/StopDetails/Bogus Bogus",
    "4 /Stop/StopDetails/StopDetail[2]/Quantity Quantity",
    "5 /Stop/StopDetails/StopDetail[3]/Nope Nope",
    "5 /Stop/StopDetails/StopDetail[3]/Length Length",
    "6 /Stop/Latitude Latitude",
  ]);
});

test("faults in several stops of a document are told with the numbers of their stops", () => {
  const one = (nbr: number) =>
    `<Stop><Function>01</Function><StopNbr>${nbr}</StopNbr><Colour/><Weight>heavy</Weight></Stop>`;
  const faults = faultsOf(
    `<Stops>\n<Extra/>\n${one(1)}\n${one(2)}\n<DocumentID>late</DocumentID>\n${one(3)}</Stops>`,
  );
  expect(faults.map(({ line, path, stopNbr }) => `${line} ${path} ${stopNbr}`)).toEqual([
    "2 /Stops/Extra undefined",
    ...["Colour", "Weight"].map((name) => `3 /Stops/Stop[1]/${name} 1`),
    ...["Colour", "Weight"].map((name) => `4 /Stops/Stop[2]/${name} 2`),
    "5 /Stops/DocumentID undefined",
    ...["Colour", "Weight"].map((name) => `6 /Stops/Stop[3]/${name} 3`),
  ]);
});

test("a missing element is told beside an unknown one, at the element that lacks it", () => {
  expect(told("<Stop>\n<Colour/>\n<StopNbr>1</StopNbr>\n<Weight>x</Weight></Stop>")).toEqual([
    "1 /Stop Stop",
    "2 /Stop/Colour Colour",
    "4 /Stop/Weight Weight",
  ]);
});

test("elements of a namespace do not belong, with a prefix or without, and do not hide what follows", () => {
  const text = stop(
    '<x:BOL xmlns:x="urn:x">1</x:BOL>',
    '<Weight xmlns="urn:x">1</Weight>',
    "<Weight>x</Weight>",
  );
  expect(told(text).map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
    "2 /Stop/x:BOL",
    "3 /Stop/*[4]",
    "4 /Stop/Weight",
  ]);
});

test("of more than 50 faults the first 51 of the document are kept, so that an answer knows that there are more", () => {
  const detail = "<StopDetail><Nope/><Weight>x</Weight></StopDetail>\n";
  const text = stop(`<StopDetails>\n${detail.repeat(200)}</StopDetails>`, "<Weight>x</Weight>");
  const lines = faultsOf(text).map(({ line }) => line);
  expect(lines).toEqual(Array.from({ length: 51 }, (_, index) => 3 + Math.floor(index / 2)));
});

test.each([
  ["10,000 unknown elements", stop(`${"<a/>".repeat(10_000)}<Weight>x</Weight>`)],
  ["10,000 different unknown elements", stop(Array.from({ length: 10_000 }, (_, i) => `<a${i}/>`).join(""))],
  ["300,000 unknown elements", stop("<a/>".repeat(300_000))],
  [
    "10,000 details with an unknown element and a wrong value each",
    stop(
      `<Nope/><StopDetails>${"<StopDetail><a/><Weight>x</Weight></StopDetail>".repeat(10_000)}</StopDetails>`,
    ),
  ],
])("%s are refused with work that grows with the document and no faster", (_name, text) => {
  // A walk along the siblings for each fault would be thousands of times the floor.
  const ratio = cpuRatio(
    () => expect(faultsOf(text)).toHaveLength(51),
    () => expect(faultsOf(plainOf(text.length))).toEqual([]),
  );
  expect(ratio).toBeLessThan(400);
});

test("xsi:nil on a required element is one fault, and others of the element are told beside it", () => {
  const nil = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"';
  const messagesOf = (lines: string) => faultsOf(`<Stop>${lines}</Stop>`).map(({ message }) => message);
  const missing = 'StopNbr: found xsi:nil="true" on an element that is required; expected its value.';
  expect(messagesOf(`<Function>01</Function><StopNbr ${nil}/>`)).toEqual([missing]);
  expect(messagesOf(`<Function>02</Function><StopNbr ${nil}></StopNbr>`)).toEqual([missing]);
  expect(messagesOf(`<Function ${nil}/><StopNbr>1</StopNbr>`)).toEqual([
    missing.replace("StopNbr", "Function"),
  ]);
  expect(messagesOf(`<Function>01</Function><StopNbr ${nil} colour="red"/>`)).toEqual([
    missing,
    expect.stringContaining("StopNbr/@colour"),
  ]);
});
