/** What was transferred since the start, for monitoring: plain numbers, which sessions count up. */
import type { ExchangePeer } from "./exchange-session.ts";

/** Of one protocol. Bytes are those of files, in both directions as the server sees them. */
export interface ChannelTransfers {
  bytesIn: number;
  bytesOut: number;
  /** Uploads whose close was answered well. */
  uploadsComplete: number;
  /** Uploads that broke off, or whose close failed. */
  uploadsBroken: number;
}

export type TransferFigures = Readonly<Record<ExchangePeer["channel"], ChannelTransfers>>;

function none(): ChannelTransfers {
  return { bytesIn: 0, bytesOut: 0, uploadsComplete: 0, uploadsBroken: 0 };
}

export function noTransfers(): TransferFigures {
  return { sftp: none(), ftp: none() };
}
