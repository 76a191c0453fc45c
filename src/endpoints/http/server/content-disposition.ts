/** The header that names a download (RFC 6266, RFC 8187), safe for any name. */

/** Control characters, marks that turn the direction of text, and separators of paths. */
const unsafe = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029/\\]/gu;
/** Characters beyond printable ASCII, and those that clients read in different ways inside quotes. */
const unquotable = /[^\x20-\x7e]|["%]/gu;
const maxLength = 150;
const maxExtensionLength = 15;

/** A name that fits every file system: cuts a long one, but keeps its extension. */
function shortened(name: string): string {
  const letters = [...name];
  if (letters.length <= maxLength) return name;
  const dot = letters.lastIndexOf(".");
  const extension = dot > 0 && letters.length - dot <= maxExtensionLength ? letters.slice(dot) : [];
  return [...letters.slice(0, maxLength - extension.length), ...extension].join("");
}

function percentEncoded(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** `fallback` names the file when `name` is null or has nothing that can be a name. */
export function attachment(name: string | null, fallback: string): string {
  const clean = shortened((name ?? "").toWellFormed().replace(unsafe, "_").trim());
  const shown = /^\.*$/.test(clean) ? fallback : clean;
  const ascii = shown.replace(unquotable, "_");
  const plain = `attachment; filename="${ascii}"`;
  return ascii === shown ? plain : `${plain}; filename*=UTF-8''${percentEncoded(shown)}`;
}
