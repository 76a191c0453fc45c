import { addressRanges, flag, integer, section } from "../reader/setting.ts";

const bans = section(
  {
    enabled: flag({ default: true, description: "Whether failed sign-ins lead to a ban." }),
    maxScore: integer({
      default: 15,
      range: [1, 1_000_000],
      description:
        "Points that ban an address: 1 for a wrong password or an unknown user, 1 for a connection of which nobody signed in in time, 3 for a broken connection limit. A /48 of IPv6 is banned at ten times as many.",
    }),
    windowMs: integer({
      default: 1_800_000,
      range: [1_000, 604_800_000],
      description: "How long points count.",
    }),
    banMs: integer({
      default: 1_800_000,
      range: [1_000, 604_800_000],
      description: "How long the first ban of an address lasts.",
    }),
    growthPercent: integer({
      default: 50,
      range: [0, 1_000],
      description: "By how much each further ban of the same address lasts longer than the one before.",
    }),
    allow: addressRanges({
      default: [],
      example: ["192.0.2.0/24"],
      description: "Addresses that are never banned.",
    }),
  },
  { description: "Bans of addresses, counted over all protocols together." },
);

export const securitySection = section(
  {
    bans,
    wrongPasswordDelayMs: integer({
      default: 1_000,
      range: [0, 60_000],
      description: "How long the answer to a wrong password is delayed.",
    }),
    passwordCacheMs: integer({
      default: 300_000,
      range: [0, 86_400_000],
      description:
        "How long a verified password is remembered in memory, under a keyed hash; 0 hashes at every sign-in. Changes of a user take effect at once all the same.",
    }),
  },
  { description: "Sign-in, over HTTP, SFTP and FTP alike." },
);
