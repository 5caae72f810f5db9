/** Whether frames have the form that the protocol gives them (RFC 9113 6): their stream or none, and their length. */
import { ErrorCode, type Fault, Flag, FrameType } from "./frame.ts";

const OF_STREAMS: ReadonlySet<number> = new Set([FrameType.Headers, FrameType.Priority, FrameType.ResetStream, FrameType.Continuation]);
const OF_CONNECTIONS: ReadonlySet<number> = new Set([FrameType.Settings, FrameType.Ping, FrameType.GoAway]);
/** Bytes of one setting. */
const SETTING_BYTES = 6;

/** Why a frame has not the form of its kind; undefined: it has. DATA is looked at as it comes. */
export function wrongForm(type: number, flags: number, stream: number, length: number): Fault | undefined {
  if (type === FrameType.PushPromise) return { code: ErrorCode.ProtocolError, why: "clients push nothing" };
  if (stream === 0 && OF_STREAMS.has(type)) return { code: ErrorCode.ProtocolError, why: `a frame of kind ${type} is of no stream` };
  if (stream !== 0 && OF_CONNECTIONS.has(type)) return { code: ErrorCode.ProtocolError, why: `a frame of kind ${type} is of a stream` };
  if (hasLength(type, flags, length)) return undefined;
  return { code: ErrorCode.FrameSizeError, why: `a frame of kind ${type} has ${length} bytes` };
}

function hasLength(type: number, flags: number, length: number): boolean {
  switch (type) {
    case FrameType.ResetStream:
    case FrameType.WindowUpdate:
      return length === 4;
    case FrameType.Ping:
      return length === 8;
    case FrameType.GoAway:
      return length >= 8;
    case FrameType.Settings:
      return (flags & Flag.Ack) === 0 ? length % SETTING_BYTES === 0 : length === 0;
    default:
      return true;
  }
}
