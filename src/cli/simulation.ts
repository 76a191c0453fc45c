/** What `dropgate simulate` asks of the simulator, which is a tool beside the program (`tools/simulator`). */

export interface SimulationRequest {
  /** Address of the gateway, without a version. */
  readonly url: string;
  readonly userName: string;
  readonly password: string;
  /** Of all drivers, when they sign in and report themselves. */
  readonly driverPassword?: string;
  readonly day: {
    readonly companyCode: string;
    readonly date: string;
    readonly drivers: readonly [string, ...string[]];
    readonly seed: number;
    readonly loads: number;
    readonly stops: number;
    readonly gpsSeconds: number;
    readonly faults: boolean;
    /** Made from seed and date unless given. */
    readonly prefix?: string;
  };
  readonly play: {
    /** Simulated seconds in a real one; `Infinity` is as fast as the gateway answers. */
    readonly speed: number;
    readonly connections: number;
    readonly verify: boolean;
  };
}

export interface SimulationOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

export type SimulationOutcome =
  /** There is no such day; `reason` names the option. */
  | { readonly kind: "impossible"; readonly reason: string }
  | {
      readonly kind: "played";
      readonly isAsPlanned: boolean;
      /** For `--json`. */
      readonly report: object;
      /** The same for people. */
      readonly lines: readonly string[];
      readonly remedy?: string;
    };

/** What the module of the simulator exports. */
export interface Simulator {
  /**
   * Plays a day, and shows on `progress` how far it is. Rejects when the day cannot begin: nobody there, the user refused,
   * or a day that is done already. `signal` ends it with what was done up to then.
   */
  simulate(
    request: SimulationRequest,
    progress: SimulationOutput,
    signal: AbortSignal,
  ): Promise<SimulationOutcome>;
}
