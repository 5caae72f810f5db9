/** The value of a shard's lease: FORMAT.md. */
import type { ShardClaim, ShardState } from "./directory.ts";
import { isNodeId } from "./node-id.ts";
import { isWhole, ValueError, valueFields } from "./value-fields.ts";

/** Of values that nodes write now; a reader refuses others by name. */
const VERSION = 1;
const STATES: readonly unknown[] = ["opening", "serving", "closing"] satisfies ShardState[];

/** The value as text. */
export function encodeShardValue({ nodeId, epoch, state, isKept, asked, askedOf }: ShardClaim): string {
  const told = { v: VERSION, node: nodeId, epoch, state, kept: isKept };
  return JSON.stringify({ ...told, ...(asked === 0 ? {} : { asked }), ...(askedOf === 0 ? {} : { askedOf }) });
}

/** What the holder says. @throws ValueError */
export function decodeShardValue(text: string): ShardClaim {
  const { node, epoch, state, kept, asked = 0, askedOf = 0 } = valueFields(text, VERSION);
  if (typeof node !== "string" || !isNodeId(node)) throw new ValueError("it names no node");
  if (!isWhole(epoch)) throw new ValueError("its epoch is no whole number");
  if (!STATES.includes(state)) throw new ValueError("its state is not known");
  if (typeof kept !== "boolean") throw new ValueError("whether it is kept is not said");
  if (!isWhole(asked)) throw new ValueError("how often writers were asked is no whole number");
  if (!isWhole(askedOf)) throw new ValueError("the writer that was asked is no whole number");
  return { nodeId: node, epoch, state: state as ShardState, isKept: kept, asked, askedOf };
}
