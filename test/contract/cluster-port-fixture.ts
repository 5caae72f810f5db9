/** What the contract of ports runs on. */
import type { ClusterPort } from "../../src/cluster/port/cluster-port.ts";

/** A cluster of its own, empty. Streams have room for `STREAM_BYTES`, leases last `LEASE_MILLIS`. */
export interface PortFixture {
  /** Another client. */
  connect(): Promise<ClusterPort>;
  /** Time passes, the cluster's own. */
  sleep(millis: number): Promise<void>;
  /** By the clock of the clients' leases. */
  monotonicMillis(): number;
  dispose(): Promise<void>;
}

/** Room of a shard's log. */
export const STREAM_BYTES: number = 4 * 1024 * 1024;
/** How long leases of the contract last. */
export const LEASE_MILLIS = 2000;

/** Registers a test. */
export type It = (title: string, body: () => Promise<void>) => void;
/** Makes a fixture that is disposed of after the test. */
export type Open = () => Promise<PortFixture>;
