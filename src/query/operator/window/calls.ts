/** Window calls over sorted rows: what computes each for one chunk after the other. */
import type { Vector } from "../../../column/vector.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { AccumulatedFrames } from "./accumulate.ts";
import { scoredFrames } from "./anomaly.ts";
import { chosen } from "./choose.ts";
import { foldedFrames } from "./fold.ts";
import { FrameWalk, type Hold } from "./frame-walk.ts";
import { type Frames, FramesOf } from "./frames.ts";
import type { FrameBound, WindowCall, WindowFrame } from "./node.ts";
import { ranks } from "./rank.ts";
import type { Chunk, SortedRows, WindowPlan } from "./sorted-rows.ts";

/** The values of a call for one chunk after the other, from the first on. */
export type ChunkCall = (chunk: Chunk) => Vector | Promise<Vector>;

type CallOf<K extends WindowCall["kind"]> = Extract<WindowCall, { kind: K }>;

/** What calls over some rows share. */
interface Shared {
  readonly node: WindowPlan;
  readonly rows: SortedRows;
  readonly context: ExecContext;
  readonly frames: (frame: WindowFrame) => FramesOf;
}

const PARTITION: WindowFrame = { unit: "rows", start: { kind: "unbounded" }, end: { kind: "unbounded" } };

/** All calls of an operator. @throws DbError RuntimeResourcesExhausted, Cancelled, where they are called */
export function callsOver(node: WindowPlan, rows: SortedRows, context: ExecContext): readonly ChunkCall[] {
  const known = new Map<string, FramesOf>();
  const frames = (frame: WindowFrame): FramesOf => {
    const made = (): FramesOf => new FramesOf(frame, node.orderBy[0], rows, context);
    if (node.calls.length === 1 || frame.start.kind === "value" || frame.end.kind === "value") return made();
    const key = `${frame.unit} ${boundKey(frame.start)} ${boundKey(frame.end)}`;
    const found = known.get(key) ?? made();
    known.set(key, found);
    return found;
  };
  return node.calls.map((call) => callOver(call, { node, rows, context, frames }));
}

function boundKey(bound: FrameBound): string {
  return bound.kind === "steps" ? String(bound.steps) : bound.kind;
}

function callOver(call: WindowCall, shared: Shared): ChunkCall {
  const { rows, context, frames } = shared;
  switch (call.kind) {
    case "rank":
      return (chunk) => ranks(call.name, call.buckets, chunk, rows);
    case "shift":
      return chosen(call, frames(PARTITION), rows, context);
    case "pick":
      return chosen(call, frames(call.frame), rows, context);
    case "anomaly":
      return scored(call, shared);
    case "aggregate":
      return aggregated(call, shared);
  }
}

function scored(call: CallOf<"anomaly">, { rows, context, frames }: Shared): ChunkCall {
  const hold: Hold = (bytes, frameRows) => rows.hold(bytes, `anomaly_score_${call.name}`, frameRows);
  const state = scoredFrames(call, call.frame.start.kind !== "unbounded", rows, context, hold);
  const walk = new FrameWalk([call.value], state, undefined, rows, context);
  const own = frames(call.frame);
  return walked(walk, own);
}

function walked(walk: FrameWalk, own: FramesOf): ChunkCall {
  return (chunk) => {
    const frames = own.of(chunk);
    return frames instanceof Promise ? frames.then((found) => walk.over(chunk, found)) : walk.over(chunk, frames);
  };
}

function aggregated(call: CallOf<"aggregate">, { rows, context, frames }: Shared): ChunkCall {
  const { call: aggregate, frame } = call;
  const { kernel, name } = aggregate.function;
  const own = frames(frame);
  if (kernel === "count" && !aggregate.distinct && aggregate.args.length === 0 && aggregate.filter === undefined) {
    return async (chunk) => lengths(await own.of(chunk));
  }
  const hold: Hold = (bytes, frameRows) => rows.hold(bytes, name, frameRows);
  const leave = frame.start.kind !== "unbounded";
  const anyState = (): AccumulatedFrames => new AccumulatedFrames(aggregate, leave, frame.end.kind !== "unbounded", context, hold);
  const keys = aggregate.orderBy.map(({ expression }) => expression);
  const filter = aggregate.filter === undefined ? [] : [aggregate.filter];
  const state = foldedFrames(aggregate, leave, hold) ?? anyState();
  const walk = new FrameWalk([...aggregate.args, ...keys, ...filter], state, anyState, rows, context);
  return walked(walk, own);
}

/** Rows of each frame. */
function lengths({ starts, ends }: Frames): Vector {
  const values = new Float64Array(starts.length);
  for (let i = 0; i < values.length; i++) values[i] = (ends[i] as number) - (starts[i] as number);
  return { kind: "number", values, validity: undefined };
}
