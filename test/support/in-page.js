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
    };
  },
};
