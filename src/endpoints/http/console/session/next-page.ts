/** Where somebody goes after signing in: a page of the console and nowhere else. */

/** Only pages: a path with a host in it, in whatever spelling, leads away. */
const pagePath = /^\/console(?:[/?][\x21-\x7e]*)?$/;
const longest = 2_000;

/** The page that was asked for, without the base path; the first page instead of anything that is none. */
export function nextPageOf(asked: string | null | undefined): string {
  if (asked === null || asked === undefined || asked.length > longest) return "/console";
  if (!pagePath.test(asked) || asked.includes("\\") || asked.startsWith("/console/sign-in"))
    return "/console";
  return asked;
}
