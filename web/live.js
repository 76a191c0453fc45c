// A page that changes while it is looked at: rows come as events of the server. Where a proxy swallows them, or too many
// watch already, the page is read again every ten seconds instead. Without this script it is a page as any other.

const silentMs = 30_000;
const pollMs = 10_000;
/** Meanwhile somebody may have gone, or the proxy be another one. */
const tryAgainMs = 300_000;

let source;
let heardAt = 0;
let polledSince;
let polledAt = 0;

const frame = () => document.querySelector("[data-live]");
const now = () => performance.now();

function say(text) {
  const place = document.getElementById("live-state");
  if (place !== null && place.textContent !== text) place.textContent = text ?? "";
}

function partsOf(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return [...holder.content.children];
}

/** Times of new parts are shown in the viewer's zone by whoever listens for this. */
function tellPutIn(part) {
  part?.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
}

/** Puts each part in the place of the one with its id; what has the focus keeps it. */
function put(html) {
  for (const part of partsOf(html)) {
    const place = document.getElementById(part.id);
    if (place === null) continue;
    window.Idiomorph.morph(place, part, { morphStyle: "outerHTML" });
    tellPutIn(document.getElementById(part.id));
  }
}

function addRefusal(html) {
  const list = document.getElementById("refusals");
  if (list === null) return;
  for (const row of partsOf(html)) {
    document.getElementById(row.id)?.remove();
    list.prepend(row);
    tellPutIn(row);
  }
  const kept = Number(frame()?.dataset.keep ?? 20);
  while (list.children.length > kept) list.lastElementChild.remove();
  const none = document.getElementById("no-refusals");
  if (none !== null) none.hidden = true;
}

function readAgain() {
  const place = frame();
  if (place !== null) window.htmx.trigger(place, "poll");
}

function stopListening() {
  source?.close();
  source = undefined;
}

function poll() {
  stopListening();
  polledSince ??= now();
  say(frame()?.dataset.polling);
}

function listen() {
  const place = frame();
  if (place === null) return;
  stopListening();
  polledSince = undefined;
  heardAt = now();
  const opened = new EventSource(place.dataset.live);
  source = opened;
  const on = (name, use) =>
    opened.addEventListener(name, ({ data }) => {
      heardAt = now();
      say(frame()?.dataset.on);
      use(data);
    });
  on("companies", put);
  on("verdict", put);
  on("refusal", addRefusal);
  on("beat", () => undefined);
  on("reload", readAgain);
  // A refused one stays closed; one that was cut off comes back by itself.
  opened.addEventListener("error", () => {
    if (opened.readyState === EventSource.CLOSED && opened === source) poll();
  });
}

function look() {
  if (frame() === null) {
    stopListening();
    return;
  }
  if (document.hidden) return;
  if (source !== undefined && now() - heardAt > silentMs) poll();
  if (polledSince === undefined) return;
  if (now() - polledSince > tryAgainMs) listen();
  else if (now() - polledAt >= pollMs) {
    polledAt = now();
    readAgain();
  }
}

if (frame() !== null) {
  listen();
  setInterval(look, 1_000);
  window.addEventListener("pagehide", stopListening);
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    listen();
    readAgain();
  });
  document.addEventListener("htmx:sendError", () => say(frame()?.dataset.off));
  document.addEventListener("htmx:responseError", () => say(frame()?.dataset.off));
}
