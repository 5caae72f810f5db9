/** The contract of file stores over the store of this run, with a cache in front and without one. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cachedFileStore } from "../../src/storage/file-store/cached/cached-file-store.ts";
import type { RemoteFileStore } from "../../src/storage/file-store/remote-file-store.ts";
import { s3FileStore } from "../../src/storage/file-store/s3/s3-file-store.ts";
import { type FileStoreFixture, fileStoreContract } from "../contract/file-store-contract.ts";
import { BUCKET, KEYS, startStore } from "./store-process.ts";

const ONCE = "names are used once: an upload demands a new one";
const REPLACES = "replaces a file only when the new one is finished; who reads the old one goes on";

async function fixture(isCached: boolean): Promise<FileStoreFixture> {
  const store = await startStore();
  const root = await mkdtemp(join(tmpdir(), "varve-s3-"));
  const keys = { accessKeyId: KEYS.id, secretAccessKey: KEYS.secret, sessionToken: undefined, region: "us-east-1" };
  const place = { bucket: BUCKET, root: "a root/ü", endpoint: new URL(store.endpoint), isVirtualHost: false, keys };
  const plain = (): RemoteFileStore => s3FileStore(place, join(root, "scratch"));
  const onTrouble = (text: string): void => {
    throw new Error(text);
  };
  const cached = (name: string) => cachedFileStore({ remote: plain(), folder: join(root, name), bytesMax: 64 * 1024 * 1024, onTrouble });
  return {
    store: isCached ? cached("a") : plain(),
    reopen: () => (isCached ? cached("b") : plain()),
    async dispose() {
      await store.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

fileStoreContract("s3FileStore", () => fixture(false), {
  [REPLACES]: ONCE,
  "lets a reader go on after its file was deleted": "an object that was deleted is gone; the cached store has a copy",
});
fileStoreContract("cachedFileStore", () => fixture(true), { [REPLACES]: ONCE });
