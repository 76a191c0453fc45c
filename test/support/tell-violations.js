/** Runs in each page before its own scripts: what the content security policy forbids becomes an error of the console. */
document.addEventListener("securitypolicyviolation", (event) => {
  const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = event;
  console.error(`CSP: ${effectiveDirective} forbids ${blockedURI || sample} at ${sourceFile}:${lineNumber}`);
});
