/**
 * The part of a stop that route events and positions need. It is stored beside the stop, so that a report does not read
 * all of its lines: there are many reports, each about all stops that remain on the load, and a stop may have hundreds
 * of lines.
 */
import type { Party } from "../stop/party.ts";
import type { Stop } from "../stop/stop.ts";

export type RoutedStop = Pick<Stop, "stopType" | "puConfirmation" | "stopGeofenceRadius" | "from" | "to">;

function routedParty(party: Party | undefined): Party | undefined {
  if (party === undefined) return undefined;
  const { name: _name, ...address } = party.address ?? {};
  const { timeZone, estimatedDuration } = party.schedule ?? {};
  return {
    ...(party.address === undefined ? {} : { address }),
    schedule: {
      ...(timeZone === undefined ? {} : { timeZone }),
      ...(estimatedDuration === undefined ? {} : { estimatedDuration }),
    },
  };
}

/** The stop without lines, contacts and names, which no report needs. */
export function routedStopOf(stop: Stop): RoutedStop {
  const { stopType, puConfirmation, stopGeofenceRadius } = stop;
  const [from, to] = [routedParty(stop.from), routedParty(stop.to)];
  return {
    ...(stopType === undefined ? {} : { stopType }),
    ...(puConfirmation === undefined ? {} : { puConfirmation }),
    ...(stopGeofenceRadius === undefined ? {} : { stopGeofenceRadius }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}
