/** Documents and bodies that are made to take as much as the limits let them, and some that go beyond. */
import { declaration, fileName, type StopFile, stopElement, stopsDocument } from "./stop-files.ts";

let seconds = 0;

/** Each has a second of its own, and stands before what others send in the order of times. */
function hostileFile(stopNbr: string, content: string): StopFile {
  seconds += 1;
  const time = new Date(Date.UTC(2025, 0, 1) + seconds * 1_000).toISOString().replaceAll(/[-:]/g, "");
  return { name: fileName(stopNbr, time.slice(0, 15).replace("T", "_")), content };
}

function detail(seq: number): string {
  return `<StopDetail><StopDetailSeq>${seq}</StopDetailSeq><Product>P${seq}</Product><CustomerOrderNbr>CO-${seq}</CustomerOrderNbr></StopDetail>`;
}

function detailsElement(count: number): string {
  const details = Array.from({ length: count }, (_, index) => detail(index + 1));
  return `<StopDetails>${details.join("")}</StopDetails>`;
}

/** A valid stop with as many details as a document may have. */
export function stopOfManyDetails(stopNbr: string): StopFile {
  return hostileFile(stopNbr, `${declaration}${stopElement(stopNbr, detailsElement(20_000))}`);
}

/** A valid document with as many stops as it may have, with 40 details each. */
export function documentOfManyStops(stopNbr: string): StopFile {
  const details = detailsElement(40);
  const stops = Array.from({ length: 500 }, (_, index) => stopElement(`${stopNbr}-${index}`, details));
  return hostileFile(stopNbr, stopsDocument([stopElement(stopNbr), ...stops.slice(1)]));
}

/** Some 45 MB of elements that the schema does not know, each of them a fault. */
export function stopOfManyFaults(stopNbr: string, count = 1_500_000): StopFile {
  return hostileFile(
    stopNbr,
    `${declaration}${stopElement(stopNbr, '<Unknown A="b">x</Unknown>'.repeat(count))}`,
  );
}

/** Takes the parser seconds, whatever the machine: each of its faults has a path that has to be counted out. */
export function slowStop(stopNbr: string, count = 19_999): StopFile {
  const details = "<StopDetail><Weight>x</Weight></StopDetail>".repeat(count);
  return hostileFile(stopNbr, `<Stop><StopDetails>${details}</StopDetails></Stop>`);
}

/** Levels of elements in each other. */
export function deepStop(stopNbr: string, levels = 1_000_000): StopFile {
  const content = `<Stop>${"<Comments>".repeat(levels)}${"</Comments>".repeat(levels)}</Stop>`;
  return hostileFile(stopNbr, content);
}

/** A valid stop with attributes and comments that make it just under 50 MiB. */
export function longStop(stopNbr: string, bytes = 52_000_000): StopFile {
  const comment = `<!--${"x".repeat(1_000_000)}-->`;
  const comments = comment.repeat(Math.floor(bytes / comment.length));
  return hostileFile(stopNbr, `${declaration}${stopElement(stopNbr, comments)}`);
}

/** A stop with documents of so many bytes in all, each under the limit of a text. */
export function stopWithDocuments(stopNbr: string, megabytes: number): StopFile {
  const documents = Array.from({ length: Math.ceil(megabytes / 7) }, (_, index) => {
    const data = Buffer.alloc(7_000_000, `${stopNbr}${index}`).toString("base64");
    return `<Document><DocumentName>d${index}.pdf</DocumentName><DocumentData>${data}</DocumentData></Document>`;
  });
  return hostileFile(
    stopNbr,
    `${declaration}${stopElement(stopNbr, `<Documents>${documents.join("")}</Documents>`)}`,
  );
}

const filled = (count: number, text: string) => Array.from({ length: count }, () => text).join(",");

/** A stop with an unknown field of so many values. */
export function stopImportOfManyValues(companyCode: string, values: number): string {
  return `{"companyCode":"${companyCode}","stops":[{"stopNbr":"V1","unknownField":[${filled(values, "[]")}]}]}`;
}

/** JSON that is nested as deeply as fits into so many bytes. */
export function deepJson(companyCode: string, levels: number): string {
  return `{"companyCode":"${companyCode}","stops":${"[".repeat(levels)}${"]".repeat(levels)}}`;
}

/** As many stops as an import may have, of some 3.5 KB each. */
export function stopImportOfManyStops(companyCode: string, run: string, count = 5_000): string {
  const stopDetails = Array.from({ length: 10 }, (_, index) => ({
    stopDetailSeq: index + 1,
    product: `P${index}`,
    productDescription: "x".repeat(200),
  }));
  const stops = Array.from({ length: count }, (_, index) => ({
    stopNbr: `M${run}-${index}`,
    to: { address: { addr1: `${index} Long Street`, city: "Springfield" } },
    stopDetails,
  }));
  return JSON.stringify({ companyCode, stops });
}

/** As many loads as an import may have, with ten stops each. */
export function loadImportOfManyStops(companyCode: string, run: string, count = 500): string {
  const loads = Array.from({ length: count }, (_, load) => ({
    loadHeader: { loadNbr: `L${run}-${load}` },
    stops: Array.from({ length: 10 }, (_unused, stop) => ({
      stopNbr: `L${run}-${load}-${stop}`,
      to: { address: { addr1: "x".repeat(1_500) } },
    })),
  }));
  return JSON.stringify({ companyCode, loads });
}

/** One load with as many stops as a whole import may have. */
export function loadOfManyStops(companyCode: string, run: string, count = 5_000): string {
  const stops = Array.from({ length: count }, (_, stop) => ({
    stopNbr: `K${run}-${stop}`,
    to: { address: { addr1: "1 Street" } },
  }));
  return JSON.stringify({ companyCode, loads: [{ loadHeader: { loadNbr: `K${run}` }, stops }] });
}

/** A route event with documents of so many base64 characters. */
export function eventWithDocuments(routeNbr: string, stopNbr: string, characters: number): string {
  const documentData = "QUJD".repeat(characters / 4);
  const documents = [{ documentName: "photo.jpg", documentType: "IMAGE", documentData }];
  const geoStamp = { eventDTTM: new Date().toISOString().slice(0, 19), eventTz: "UTC" };
  return JSON.stringify({
    eventCode: "stop.dropoff.arrival",
    geoStamp,
    routeNbr,
    stopEventData: { stopNbr, documents },
  });
}
