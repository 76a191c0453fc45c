/**
 * What tests run inside of pages: `page-checks.ts` sends this file into them. It is JavaScript because types of the DOM
 * would be known to the whole program, which has none.
 */

function nameOfElement({ tagName, className, id }) {
  const ownId = id === "" ? "" : `#${id}`;
  const classes =
    typeof className === "string" && className !== "" ? `.${className.replaceAll(" ", ".")}` : "";
  return `${tagName.toLowerCase()}${ownId}${classes}`;
}

/** Whether the element lies in something that scrolls by itself or clips, and so makes the page no wider. */
function isHeldIn(element) {
  for (
    let outer = element.parentElement;
    outer !== null && outer !== document.body;
    outer = outer.parentElement
  )
    if (getComputedStyle(outer).overflowX !== "visible") return true;
  return false;
}

/** Whether something else lies over all of the element that could be seen. */
function isCovered(element) {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const points = [
    [x, y],
    [left + 1, y],
    [right - 1, y],
    [x, top + 1],
    [x, bottom - 1],
  ];
  const found = points.map(([at, down]) => document.elementFromPoint(at, down));
  const inWindow = found.filter((one) => one !== null);
  return inWindow.length > 0 && !inWindow.some((one) => element.contains(one) || one.contains(element));
}

globalThis.inPage = {
  widerThanWindow() {
    const { clientWidth, scrollWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const isWide = (element) =>
      element.getBoundingClientRect().right > clientWidth + 0.5 && !isHeldIn(element);
    const wide = [...document.body.querySelectorAll("*")].filter(isWide).map(nameOfElement);
    return [`${scrollWidth} of ${clientWidth} px`, ...wide.slice(0, 8)];
  },

  outlineFaults() {
    const count = (selector) => document.querySelectorAll(selector).length;
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    const valueless = /\b(?:undefined|NaN|Invalid Date)\b|\[object /.exec(document.body.innerText);
    const faults = [
      [document.title.trim() === "", "no title"],
      [count("h1") !== 1, `${count("h1")} h1`],
      [(document.querySelector("h1")?.textContent ?? "").trim() === "", "an empty h1"],
      [document.documentElement.lang === "", "no language"],
      [count("main") !== 1, `${count("main")} main`],
      [new Set(ids).size !== ids.length, `an id twice: ${ids.filter((id, at) => ids.indexOf(id) !== at)}`],
      [valueless !== null, `a value that is none: ${valueless?.[0]}`],
    ];
    return faults.filter(([isFault]) => isFault).map(([, fault]) => fault);
  },

  focused() {
    const element = document.activeElement ?? document.body;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    const { top, bottom, width, height } = element.getBoundingClientRect();
    const texts = [element.getAttribute("aria-label"), element.textContent, element.getAttribute("name")];
    const text = texts.map((each) => (each ?? "").replaceAll(/\s+/g, " ").trim()).find((each) => each !== "");
    return {
      name: `${element.tagName.toLowerCase()} ${(text ?? "").slice(0, 60)}`,
      isMarked: (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none",
      isInWindow: bottom > 0 && top < innerHeight && width > 0 && height > 0,
      isCovered: isCovered(element),
    };
  },

  unseenInPictures() {
    const probe = document.createElement("i");
    probe.style.color = "Canvas";
    document.body.append(probe);
    const ground = getComputedStyle(probe).color;
    probe.remove();
    const isSeen = (element) => {
      const { fill, stroke } = getComputedStyle(element);
      return [fill, stroke].some((colour) => colour !== "none" && colour !== ground);
    };
    const shapes = [...document.querySelectorAll("main svg :is(circle, rect, path, line, polyline, text)")];
    return shapes
      .filter((shape) => !isSeen(shape))
      .map((shape) => shape.getAttribute("class") ?? shape.tagName);
  },

  tabStops() {
    const all = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]");
    return [...all].filter((one) => one.checkVisibility() && one.tabIndex >= 0 && !one.disabled).length;
  },
};
