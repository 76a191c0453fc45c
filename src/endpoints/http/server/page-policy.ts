/** The Content-Security-Policy of pages: nothing runs, is shown or asked that does not come from this server. */

/** Nobody may put the page into one of theirs. `formsTo`: where its forms may be sent. */
export function pagePolicy({ formsTo }: { readonly formsTo: "'self'" | "'none'" }): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `form-action ${formsTo}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
