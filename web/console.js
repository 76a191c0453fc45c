// What makes the console nicer: times in the viewer's zone, keys, colours, one send of each form. No page needs it.

const kept = {
  get(name) {
    try {
      return localStorage.getItem(`dropgate.${name}`);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      if (value === "") localStorage.removeItem(`dropgate.${name}`);
      else localStorage.setItem(`dropgate.${name}`, value);
    } catch {
      // Private windows may keep nothing: the choice holds for this page.
    }
  },
};

// Times: as the server wrote them, in the zone of the viewer.

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC";
const two = (number) => String(number).padStart(2, "0");

function localText(date, isPrecise) {
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${day} ${clock}${isPrecise ? `.${String(date.getMilliseconds()).padStart(3, "0")}` : ""}`;
}

/** The stop's own time says nothing to a viewer whose clock shows the same. */
function hideSameLocal(time) {
  const local = time.nextElementSibling?.dataset.local;
  if (local !== undefined) time.nextElementSibling.hidden = time.textContent.startsWith(local);
}

function showTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]:not([data-shown])")) {
    const date = new Date(time.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    time.title = time.textContent;
    time.textContent = localText(date, time.hasAttribute("data-precise"));
    time.setAttribute("data-shown", "");
    hideSameLocal(time);
  }
}

function showZone() {
  for (const place of document.querySelectorAll("[data-zone]")) place.textContent = zone.replaceAll("_", " ");
}

// Colours.

function setTheme(theme) {
  if (theme === "") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  kept.set("theme", theme);
}

function offerThemes() {
  const choice = document.getElementById("theme");
  if (choice === null) return;
  choice.value = document.documentElement.dataset.theme ?? "";
  choice.addEventListener("change", () => setTheme(choice.value));
}

// Keys. All of them can be switched off: some programs type single letters on behalf of their users.

const pages = {
  t: "today",
  f: "files",
  d: "deliveries",
  r: "remotes",
  h: "health",
  u: "users",
  p: "hosts",
  a: "audit",
};
const waitForSecondMs = 1500;
let wentAt = Number.NEGATIVE_INFINITY;

function goTo(name) {
  document.querySelector(`.pages a[data-page="${name}"]`)?.click();
}

function moveRow(step) {
  const links = [...document.querySelectorAll("main tbody tr")]
    .map((row) => row.querySelector("a, button, summary"))
    .filter((place) => place?.checkVisibility());
  if (links.length === 0) return;
  const row = document.activeElement?.closest("tbody tr");
  const here = row === null ? -1 : links.findIndex((place) => row?.contains(place));
  const next = here === -1 ? (step > 0 ? 0 : links.length - 1) : here + step;
  links[Math.min(Math.max(next, 0), links.length - 1)].focus();
}

function showKeys() {
  const dialog = document.getElementById("keys");
  if (dialog !== null && !dialog.open) dialog.showModal();
}

const actions = {
  "/": () => document.getElementById("find-box")?.focus(),
  j: () => moveRow(1),
  k: () => moveRow(-1),
  r: () => location.reload(),
  "?": showKeys,
  g: () => {
    wentAt = performance.now();
  },
};

function isTyping(target) {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) {
    if (!(event.repeat && (event.key === "j" || event.key === "k"))) return;
  }
  if (isTyping(event.target) || kept.get("keys") === "off") return;
  if (document.querySelector("dialog[open]") !== null) return;
  const isSecond = performance.now() - wentAt < waitForSecondMs;
  wentAt = Number.NEGATIVE_INFINITY;
  const page = isSecond ? pages[event.key] : undefined;
  const action = page === undefined ? actions[event.key] : () => goTo(page);
  if (action === undefined) return;
  event.preventDefault();
  action();
}

function offerKeys() {
  document.addEventListener("keydown", onKey);
  for (const button of document.querySelectorAll("[data-keys]")) button.addEventListener("click", showKeys);
  const isOn = document.getElementById("keys-on");
  if (isOn === null) return;
  isOn.checked = kept.get("keys") !== "off";
  isOn.addEventListener("change", () => kept.set("keys", isOn.checked ? "" : "off"));
}

// Forms that act are sent once, however often the button is pressed.

function onSubmit(event) {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent !== undefined) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "";
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-disabled", "true");
}

/** A page that the browser kept and shows again may send again. */
function onShow(event) {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("button")) button.removeAttribute("aria-disabled");
  }
}

// Files that are put into a text area instead of being typed.

/** The text of a file: XML in the encoding that its first line names, all else in UTF-8. */
function textOf(bytes) {
  const head = new TextDecoder("latin1").decode(bytes.slice(0, 200));
  const named = /^\s*<\?xml[^>]*encoding=["']([\w.-]+)["']/.exec(head)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    // An encoding that no browser knows: the server says what is wrong with it.
    return new TextDecoder().decode(bytes);
  }
}

async function putIn(input) {
  const place = document.getElementById(input.dataset.into);
  const [file] = input.files;
  if (place === null || file === undefined) return;
  place.value = textOf(await file.arrayBuffer());
  const name = document.getElementById(input.dataset.name ?? "");
  if (name !== null) name.value = file.name;
}

function offerFiles() {
  for (const input of document.querySelectorAll("input[type=file][data-into]"))
    input.addEventListener("change", () => void putIn(input));
}

// Samples name this server as the browser does.

function nameServer() {
  for (const sample of document.querySelectorAll("[data-server]")) {
    for (const place of sample.querySelectorAll("pre"))
      place.textContent = place.textContent.replaceAll(sample.dataset.server, location.hostname);
  }
}

nameServer();
for (const place of document.querySelectorAll(".unscripted")) place.hidden = true;
for (const place of document.querySelectorAll(".scripted[hidden]")) place.hidden = false;
showTimes(document);
showZone();
offerThemes();
offerKeys();
offerFiles();
document.addEventListener("submit", onSubmit);
window.addEventListener("pageshow", onShow);
// Parts that htmx has put in place have times as well.
document.addEventListener("htmx:load", (event) => showTimes(event.target));
