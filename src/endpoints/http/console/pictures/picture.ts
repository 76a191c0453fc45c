/**
 * Pictures as SVG: told to screen readers by a title and a description, coloured by classes of the style sheet alone.
 * Along a time axis places are percentages, so that texts keep their size on narrow screens and on paper.
 */
import { visible } from "../../../../lib/logs/visible-text.ts";
import { type Content, type Html, html } from "../kit/html.ts";

export interface PictureFrame {
  /** Unique in its page. */
  readonly id: string;
  readonly title: string;
  /** What there is to see, for those who cannot see it. */
  readonly description: string;
  /** In pixels. */
  readonly height: number;
}

function told({ id, title, description }: PictureFrame): Html {
  return html`<title id="${id}-title">${title}</title><desc id="${id}-desc">${description}</desc>`;
}

/** A picture as wide as its column, whose places along it are percentages. */
export function widePicture(frame: PictureFrame, content: Content): Html {
  const { id, height } = frame;
  return html`<figure class="picture"><svg class="picture-wide" width="100%" height="${height}" role="img" aria-labelledby="${id}-title ${id}-desc">${told(frame)}${content}</svg></figure>`;
}

/** A picture that keeps its proportions, in units of its own: `width` of them across. */
export function scaledPicture(frame: PictureFrame & { readonly width: number }, content: Content): Html {
  const { id, width, height } = frame;
  return html`<figure class="picture"><svg class="picture-scaled" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-title ${id}-desc">${told(frame)}${content}</svg></figure>`;
}

/** A place or a length along the picture, in hundredths of its width. */
export function percent(share: number): string {
  return `${Number(share.toFixed(2))}%`;
}

/** A number of the picture's own units, without digits that nobody sees. */
export function units(length: number): string {
  return String(Number(length.toFixed(1)));
}

/** A text for a label, with what nobody would see made visible: so many characters at most, and a sign where it was cut. */
export function labelText(text: string, most: number): string {
  // No more than can be shown is looked at: a text of others may have megabytes.
  const shownText = visible(text.slice(0, 2 * most + 1));
  const signs = Array.from(shownText);
  return signs.length <= most ? shownText : `${signs.slice(0, most - 1).join("")}…`;
}
