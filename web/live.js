// A page that changes while it is looked at: rows come as events of the server. Where a proxy swallows them, or too many
// watch already, the page is read again every ten seconds instead. Without this script it is a page as any other.

const silentMs = 30_000;
/** The first comes at once. */
const firstSilentMs = 10_000;
const pollMs = 10_000;
/** Charts, incidents and the disk come by no event. */
const wholeMs = 60_000;
/** Meanwhile somebody may have gone, or the proxy be another one. */
const tryAgainMs = 300_000;

let source;
let hasHeard = false;
/** When something was heard last, or listening was begun. */
let heardAt = 0;
let isPolling = false;
/** When the page was read last, or was made. */
let readAt = performance.now();

const frame = () => document.querySelector("[data-live]");
const now = () => performance.now();

/** Says how live the page is: `on`, `polling` or `off`. The frame has a word for each. */
function say(state) {
  const [place, text] = [document.getElementById("live-state"), frame()?.dataset[state]];
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
    // One row for many: it takes the place of theirs.
    if (row.dataset.many !== undefined)
      for (const one of list.querySelectorAll(`[data-group="${row.dataset.group}"]`)) one.remove();
    list.prepend(row);
    tellPutIn(row);
  }
  const kept = Number(frame()?.dataset.keep ?? 20);
  while (list.children.length > kept) list.lastElementChild.remove();
  const none = document.getElementById("no-refusals");
  if (none !== null) none.hidden = true;
}

function readAgain() {
  readAt = now();
  const place = frame();
  if (place !== null) window.htmx.trigger(place, "poll");
}

function stopListening() {
  source?.close();
  source = undefined;
}

function poll() {
  stopListening();
  isPolling = true;
  say("polling");
}

function listen() {
  const place = frame();
  if (place === null) return;
  stopListening();
  hasHeard = false;
  heardAt = now();
  const opened = new EventSource(place.dataset.live);
  source = opened;
  const on = (name, use) =>
    opened.addEventListener(name, ({ data }) => {
      hasHeard = true;
      heardAt = now();
      isPolling = false;
      say("on");
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
  const silence = now() - heardAt;
  if (source !== undefined && silence > (hasHeard ? silentMs : firstSilentMs)) poll();
  if (isPolling && source === undefined && silence > tryAgainMs) listen();
  if (now() - readAt >= (isPolling ? pollMs : wholeMs)) readAgain();
}

/** A browser has six connections for all its tabs: those that nobody looks at must not keep any. */
function onVisibility() {
  stopListening();
  if (document.hidden) return;
  if (!isPolling) listen();
  readAgain();
}

/** What somebody has opened stays open, and how live the page is is told once, and not each time that it is read. */
function keepWhatIsShown() {
  const { callbacks } = window.Idiomorph.defaults;
  callbacks.beforeAttributeUpdated = (name, element) => !(name === "open" && element.matches("details"));
  callbacks.beforeNodeMorphed = (element) => element.id !== "live-state";
}

/** A page that was read anew does not say yet how live it is. */
function onRead() {
  say(isPolling ? "polling" : hasHeard ? "on" : undefined);
}

if (frame() !== null) {
  keepWhatIsShown();
  if (!document.hidden) listen();
  setInterval(look, 1_000);
  window.addEventListener("pagehide", stopListening);
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    listen();
    readAgain();
  });
  document.addEventListener("visibilitychange", onVisibility);
  document.addEventListener("htmx:sendError", () => say("off"));
  document.addEventListener("htmx:responseError", () => say("off"));
  document.addEventListener("htmx:afterSettle", onRead);
}
