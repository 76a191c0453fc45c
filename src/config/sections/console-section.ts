/** The console: where it is served, and who sees what belongs to all companies. */
import { balancers } from "./listener-settings.ts";
import { flag, host, integer, list, optional, section, text } from "../reader/setting.ts";

const operator = text("A user in a company, as NAME@COMPANY.", {
  maxLength: 200,
  pattern: "^[^\\u0000-\\u001f\\u007f:/]+@[A-Za-z0-9_-]{1,20}$",
  form: "NAME@COMPANY, such as anna@ACME: users of one name in two companies may be different people",
});

export const consoleSection = section(
  "The console: the state of files, deliveries and companies in a browser, and what an administrator does about it. At BASEPATH/console.",
  {
    enabled: flag("Serve the console.", { default: true, needsRestart: true }),
    host: optional(host)(
      "Address or host name for the console alone, with console.port; http.host unless set.",
      { needsRestart: true, example: "127.0.0.1" },
    ),
    port: optional(integer)(
      "A port for the console alone, with the certificate of http.tls, instead of that of HTTP; 0 takes any free one.",
      { range: [0, 65_535], needsRestart: true, example: 8081 },
    ),
    proxyProtocolFrom: balancers(
      "connections to console.port; those to http.port are of http.proxyProtocolFrom",
    ),
    operators: list(
      "Users who see what belongs to all companies: health, disk, bans, users of all of them.",
      operator,
      { default: [], maxItems: 100, example: ["anna@ACME"] },
    ),
  },
);
