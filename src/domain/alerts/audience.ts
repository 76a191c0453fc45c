/**
 * Who is told of incidents: the operator of this installation, and companies. The operator has a row among the companies,
 * so that incidents, targets and deliveries of no company have their place; no list of companies shows it, and no client
 * can name it, for its code is none.
 */
import { notConfiguredFault } from "../outbound/delivery-state.ts";

export const operatorId = 0;
export const operatorCode = "(operator)";

/** The ways on which an audience is told. */
export const alertWays = ["email", "https"] as const;
export type AlertWay = (typeof alertWays)[number];

/** The name of the target of a way. No target of the configuration can have it: those have no dot. */
export function alertTargetName(way: AlertWay): string {
  return `alerts.${way}`;
}

/** The way of a target by its name; undefined for a target of something else than alerts. */
export function alertWayOf(targetName: string): AlertWay | undefined {
  return alertWays.find((way) => alertTargetName(way) === targetName);
}

/** Stands for the address of a web service: there is one for each audience. */
export const webServiceAddress = "https";

/** The way to a receiver. */
export function alertWayTo(address: string): AlertWay {
  return address === webServiceAddress ? "https" : "email";
}

/** Why a notice to a receiver that has left the configuration is not sent. */
export const formerReceiver = {
  fault: notConfiguredFault,
  message: "the configuration no longer names this receiver of alerts",
} as const;
