/** The tables that nodes of one database share. */
import type { Generated } from "kysely";

export interface ClusterTables {
  nodes: {
    name: string;
    /** Another one with each start. */
    incarnation: string;
    version: string;
    /** The schema that this node knows. */
    schema: number;
    /** JSON: what it listens on. */
    address: string;
    /** Hash of the settings that all nodes must have in common. */
    settings: string;
    started_at: number;
    /** By the clock of the database, as all times here. */
    seen_at: number;
    is_draining: Generated<number>;
    is_stopped: Generated<number>;
  };
  /** One row for each company; 0: what concerns no company. The lock of its writers, and the fence. */
  lanes: {
    company_id: number;
    /** Counts the leases: work that began under another one is refused. */
    epoch: Generated<number>;
  };
  /** Files that other nodes than the owner have entered, until the owner has them in line. */
  arrivals: {
    company_id: number;
    file_id: number;
    /** That of the file. */
    name: string;
  };
  /**
   * One row for each lane: who has it, and until when. Apart from the lock, so that a renewal waits for no writer. The epoch
   * is that of the lane; with a claim both change together.
   */
  leases: {
    company_id: number;
    /** The node that does the background work of the company. */
    owner: string | null;
    epoch: Generated<number>;
    expires_at: Generated<number>;
    /**
     * When a node that died with the company was surely there for the last time; null as soon as another one has taken over
     * all that it left.
     */
    orphaned_at: number | null;
  };
  /** Failed sign-ins, as long as they count. */
  sign_in_faults: {
    id: Generated<number>;
    peer: string;
    subject: string;
    score: number;
    at: number;
  };
  sign_in_bans: {
    peer: string;
    banned_until: number;
    times: number;
    changed_at: number;
  };
}
