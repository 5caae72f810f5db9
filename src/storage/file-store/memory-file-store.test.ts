import { fileStoreContract } from "../../../test/contract/file-store-contract.ts";
import { memoryFileStore } from "./memory-file-store.ts";

fileStoreContract("memoryFileStore", async () => {
  const files = new Map<string, Uint8Array>();
  return { store: memoryFileStore(files), reopen: () => memoryFileStore(files), dispose: async () => files.clear() };
});
