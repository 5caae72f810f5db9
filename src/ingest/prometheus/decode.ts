/** The decoder of a version of remote write. */
import type { SnappyScratch } from "../../format/snappy/scratch.ts";
import type { RemoteWriteOptions, RemoteWriteResult } from "./types.ts";
import { RemoteWriteV1Decoder } from "./write-v1.ts";
import { RemoteWriteV2Decoder } from "./write-v2.ts";

/** Versions of the protocol, as tables made on the way name them. */
export type RemoteWriteVersion = "1.0" | "2.0";

/** Decodes the requests of one database and physical table on one thread; keeps the series it has seen between requests. */
export interface RemoteWriteDecoder {
  /** Bytes that are kept for the next request, nearly. */
  readonly memoryBytes: number;
  /** Where a message is best unfolded to, if anywhere. */
  readonly room?: SnappyScratch | undefined;
  /** Decodes a message, which is not kept. @throws DbError InvalidArguments */
  decode(bytes: Uint8Array): RemoteWriteResult;
  /** Says that tables were made for all that was decoded last. */
  settle?(): void;
}

/** A decoder that has seen nothing yet. */
export function createRemoteWriteDecoder(version: RemoteWriteVersion, options: RemoteWriteOptions): RemoteWriteDecoder {
  return version === "1.0" ? new RemoteWriteV1Decoder(options) : new RemoteWriteV2Decoder(options);
}
