/** Names of data nodes and frontends: stable, from their configuration, part of a lease's name. */
import { invalidArguments } from "../../base/error.ts";

const ID = /^[\w-]{1,64}$/;

/** Whether a text can name a node. */
export function isNodeId(text: string): boolean {
  return ID.test(text);
}

/** @param what it names @throws DbError InvalidArguments: the text cannot name a node */
export function checkNodeId(text: string, what: "a data node" | "a frontend" = "a data node"): void {
  if (isNodeId(text)) return;
  throw invalidArguments(`cannot name ${what} ${JSON.stringify(text.slice(0, 100))}: 1 to 64 letters, digits, _ and - make a name`);
}
