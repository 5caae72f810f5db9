import { metaStoreContract } from "../../../test/contract/meta-store-contract.ts";
import { memoryMetaStore } from "./memory-meta-store.ts";

metaStoreContract("memoryMetaStore", () => {
  const store = memoryMetaStore();
  return { store, reopen: () => store, dispose: () => store.close() };
});
