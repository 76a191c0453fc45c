/** Where somebody goes after signing in: a page of the console and nowhere else. */

const longest = 2_000;
const visible = /^\/[\x21-\x5b\x5d-\x7e]*$/;
const nowhere = "http://console.invalid";
const first = "/console";

/** The page that was asked for, without the base path; the first page instead of anything that is none. */
export function nextPageOf(asked: string | null | undefined): string {
  if (asked === null || asked === undefined || asked.length > longest || !visible.test(asked)) return first;
  if (!URL.canParse(asked, nowhere)) return first;
  // As a browser reads it: two slashes lead to another host, and dots out of the console.
  const { origin, pathname, search } = new URL(asked, nowhere);
  const isPage = pathname === first || pathname.startsWith(`${first}/`);
  const isSignIn = pathname === `${first}/sign-in`;
  return origin === nowhere && isPage && !isSignIn ? `${pathname}${search}` : first;
}
