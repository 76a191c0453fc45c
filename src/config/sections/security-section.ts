import { addressRanges, flag, integer, section } from "../reader/setting.ts";

const bans = section("Bans of addresses, counted over all protocols together.", {
  enabled: flag("Whether failed sign-ins lead to a ban.", { default: true }),
  maxScore: integer(
    "Points that ban an address: 1 for a wrong password or an unknown user, 1 for a connection of which nobody signed in in time, 3 for a broken connection limit. A /48 of IPv6 is banned at ten times as many.",
    { default: 15, range: [1, 1_000_000] },
  ),
  windowMs: integer("How long points count.", { default: 1_800_000, range: [1_000, 604_800_000] }),
  banMs: integer("How long the first ban of an address lasts.", {
    default: 1_800_000,
    range: [1_000, 604_800_000],
  }),
  growthPercent: integer(
    "By how much each further ban of the same address lasts longer than the one before.",
    { default: 50, range: [0, 1_000] },
  ),
  allow: addressRanges("Addresses that are never banned.", { default: [], example: ["192.0.2.0/24"] }),
});

export const securitySection = section("Sign-in, over HTTP, SFTP and FTP alike.", {
  bans,
  wrongPasswordDelayMs: integer("How long the answer to a wrong password is delayed.", {
    default: 1_000,
    range: [0, 60_000],
  }),
  passwordCacheMs: integer(
    "How long a verified password is remembered in memory, under a keyed hash; 0 hashes at every sign-in. Changes of a user take effect at once all the same.",
    { default: 300_000, range: [0, 86_400_000] },
  ),
});
