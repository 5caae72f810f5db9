/** Tests of queries whose rows are in their process, in runs where every table lies elsewhere: `VARVE_REMOTE=3 bun test src/query`. */
import { REMOTE_SHARDS } from "../memory-catalog.ts";
import { standalone, type StandaloneTests } from "./standalone.ts";

/** `test` and `describe`, left out where rows are elsewhere. @param why what they ask of that rows have only in this process */
export function rowsHere(why: string): StandaloneTests {
  return standalone(why, REMOTE_SHARDS > 0);
}
