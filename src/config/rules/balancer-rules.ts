/** Rules of who is believed to be a balancer: whoever is may say of each connection that it is anybody's. */
import { isIPv4 } from "node:net";
import type { Config } from "../schema.ts";
import { type RuleFault, when } from "./rule-fault.ts";

/** As many addresses as one network of a site has; below the narrow bounds they are those of other machines too. */
const bounds = {
  ipv4: { all: 32, narrow: 24, worldWide: 7 },
  ipv6: { all: 128, narrow: 64, worldWide: 16 },
} as const;

function warnOfRange(range: string, path: string): RuleFault[] {
  const [address = "", prefix] = range.split("/");
  const { all, narrow, worldWide } = bounds[isIPv4(address) ? "ipv4" : "ipv6"];
  const bits = prefix === undefined ? all : Number(prefix);
  const isWide = bits <= worldWide;
  return [
    ...when(isWide, {
      path,
      message: `is world-wide (${range}): anybody may say to come from any address, which undoes bans, limits and http.metricsFrom; list the balancers' own addresses`,
    }),
    ...when(!isWide && bits < narrow, {
      path,
      message: `has addresses that clients may have (${range}): these cannot connect without a balancer, and may say to come from any address; list the balancers' own addresses`,
    }),
  ];
}

export function warnOfBalancers({ http, console: ofConsole, sftp, ftp }: Config): RuleFault[] {
  const lists = Object.entries({ http, console: ofConsole, sftp, ftp });
  return lists.flatMap(([name, { proxyProtocolFrom }]) =>
    proxyProtocolFrom.flatMap((range, index) => warnOfRange(range, `${name}.proxyProtocolFrom[${index}]`)),
  );
}

export function checkConsoleBalancers({ console: { port, proxyProtocolFrom } }: Config): RuleFault[] {
  return when(port === undefined && proxyProtocolFrom.length > 0, {
    path: "console.proxyProtocolFrom",
    message: "has no effect without console.port; set http.proxyProtocolFrom instead, or remove it",
  });
}
