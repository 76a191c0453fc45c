// Draws the charts of a page from the numbers that each carries (data-chart); the page has the same as a table.

const height = 220;
const drawn = new Map();

/** The colour of that name as it is at this moment: a canvas knows neither names nor themes. */
function colour(place, name) {
  place.style.color = `var(--${name})`;
  const found = getComputedStyle(place).color;
  place.style.color = "";
  return found;
}

function lengthText(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 6_000) / 10} min`;
  if (ms < 172_800_000) return `${Math.round(ms / 360_000) / 10} h`;
  return `${Math.round(ms / 8_640_000) / 10} d`;
}

const sizes = ["B", "kB", "MB", "GB", "TB"];

function sizeText(bytes) {
  const unit = Math.min(sizes.length - 1, Math.floor(Math.log10(Math.max(1, Math.abs(bytes))) / 3));
  return `${Math.round((bytes / 1_000 ** unit) * 10) / 10} ${sizes[unit]}`;
}

const two = (number) => String(number).padStart(2, "0");

/** A moment in the viewer's zone; over more than a day, with its day; over months, the day alone. */
function momentText(seconds, isLong, isVeryLong) {
  const date = new Date(seconds * 1_000);
  if (isVeryLong) return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return isLong ? `${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}` : clock;
}

const longSpan = 172_800;
const veryLongSpan = 5_184_000;

const texts = { ms: lengthText, bytes: sizeText, count: String };

function optionsOf(place, { unit, series, when, at }) {
  const isLong = at.at(-1) - at[0] > longSpan;
  const isVeryLong = at.at(-1) - at[0] > veryLongSpan;
  const grid = { stroke: colour(place, "line"), width: 1 };
  const axis = { stroke: colour(place, "faint"), grid, ticks: { show: false } };
  const text = texts[unit];
  return {
    width: Math.max(240, place.clientWidth),
    height,
    cursor: { drag: { x: false, y: false } },
    scales: { y: { range: (_chart, _least, most) => [0, most > 0 ? most * 1.05 : 1] } },
    axes: [
      {
        ...axis,
        space: isLong ? 110 : 60,
        values: (_chart, splits) => splits.map((one) => momentText(one, isLong, isVeryLong)),
      },
      { ...axis, size: 64, values: (_chart, splits) => splits.map(text) },
    ],
    series: [
      { label: when, value: (_chart, one) => (one === null ? "–" : momentText(one, true, isVeryLong)) },
      ...series.map(({ label, kind }, index) => ({
        label,
        stroke: colour(place, kind),
        width: 2,
        // A value without neighbours has no line.
        points: { show: unit === "ms", size: 5, fill: colour(place, kind) },
        // Lines are told apart without their colours too.
        dash: [[], [8, 4], [2, 3]][index],
        value: (_chart, value) => (value === null || value === undefined ? "–" : text(value)),
      })),
    ],
  };
}

function draw(place) {
  const chart = JSON.parse(place.dataset.chart);
  drawn.get(place)?.destroy();
  const data = [chart.at, ...chart.series.map(({ values }) => values)];
  drawn.set(place, new window.uPlot(optionsOf(place, chart), data, place));
}

function drawAll() {
  for (const [place, chart] of drawn) {
    if (place.isConnected) continue;
    chart.destroy();
    drawn.delete(place);
  }
  for (const place of document.querySelectorAll("[data-chart]")) draw(place);
}

let width = window.innerWidth;
drawAll();
// Only a change of the width needs a new picture: the bars of a phone come and go with each scroll.
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  drawAll();
});
for (const media of ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"])
  matchMedia(media).addEventListener("change", drawAll);
new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });
document.addEventListener("htmx:afterSettle", drawAll);
