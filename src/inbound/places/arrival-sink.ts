import type { Arrival } from "./inbox.ts";

/**
 * Takes what uploads bring. What makes it quick stands behind this interface (`src/exchange/arrivals`): who sends bytes
 * and files here needs to know none of it.
 */
export interface ArrivalSink {
  /** Bytes of files came over a connection. */
  received(bytes: number): void;
  /** The file lies durably under its final name, which is reserved. Returns at once; nobody waits for the pipeline. */
  arrive(arrival: Arrival): void;
  /** The pipeline gets everything that has arrived, now. */
  flush(): void;
}
