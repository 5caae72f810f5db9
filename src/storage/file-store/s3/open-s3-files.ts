import type { MemoryCounter } from "../../../base/memory/server-memory.ts";
import type { RemoteFileStore } from "../remote-file-store.ts";
import { s3FileStore } from "./s3-file-store.ts";

/** How a bucket is named in the configuration (`config/settings.ts` has what each means). */
export interface S3Options {
  readonly bucket: string | undefined;
  readonly root: string | undefined;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
  readonly isVirtualHost: boolean | undefined;
}

/** What requests are signed for where nothing is said. */
const REGION_DEFAULT = "us-east-1";

/** The data files of a bucket, which is not asked anything yet. @param scratch @param memory as `s3FileStore` */
export function openS3Files(options: S3Options, scratch: string, memory?: MemoryCounter): RemoteFileStore {
  const { bucket = "", root = "", endpoint, region = REGION_DEFAULT, accessKeyId = "", secretAccessKey = "" } = options;
  const place = {
    bucket,
    root: root.replace(/^\/+|\/+$/g, ""),
    endpoint: new URL(endpoint ?? `https://s3.${region}.amazonaws.com`),
    isVirtualHost: options.isVirtualHost ?? false,
    keys: { accessKeyId, secretAccessKey, sessionToken: undefined, region },
  };
  return s3FileStore(place, scratch, undefined, memory);
}
