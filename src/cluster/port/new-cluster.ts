/**
 * A cluster that is made anew out of a copy of another one: the messages of the copy come to be under the numbers that they had there,
 * since files and manifests name rows by them.
 *
 *   make     streams that begin where the copy does ─► putRecord, in order ─► lists by conditional appends ─► the catalogue, last
 *
 * Nobody else is there yet: the first frontend or data node makes a catalogue where there is none, and then the last step is refused.
 */
import type { ClusterPort } from "./cluster-port.ts";

/** Where the streams of a cluster begin. */
export interface FirstNumbers {
  /** Of the first message of the log of each shard, and of the last that it is to have: below `first`, there is none. */
  readonly logs: readonly { readonly first: number; readonly last: number }[];
  /** Of the first change of the catalogue. */
  readonly catalog: number;
}

/** See the file header. Calls fail as those of `ClusterPort` do. */
export interface NewCluster extends Pick<ClusterPort, "ordered" | "messageBytesMax"> {
  /**
   * Looks whether the cluster can be made here; changes nothing.
   *
   * @throws PortError denied: there is one, or streams that are not those that an earlier attempt with these numbers made
   */
  check(first: FirstNumbers): Promise<void>;
  /** Makes the streams that are not there. @throws PortError as `check`, or servers are not as they must be */
  make(first: FirstNumbers): Promise<void>;
  /**
   * Puts the record of a number into the log of a shard: those before it are there. Again does no harm.
   *
   * @throws PortError denied: another one is there
   */
  putRecord(shard: number, number: number, record: Uint8Array): Promise<void>;
  close(): Promise<void>;
}
