/** The library of S2 cells, loaded when a query first needs it: 20 ms that most servers never spend. */
import type * as library from "s2js";

type S2 = typeof library.s2;

let loaded: S2 | undefined;

/** The library. */
export function s2(): S2 {
  loaded ??= (require("s2js") as typeof library).s2; // what the module of that name exports
  return loaded;
}
