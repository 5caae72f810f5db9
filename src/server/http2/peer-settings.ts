/** What a client says of itself (RFC 9113 6.5.2), as far as the server goes by it. */
import { ErrorCode, type Fault, FRAME_BYTES_DEFAULT, FRAME_BYTES_LARGEST, numberAt, Setting, WINDOW_DEFAULT, WINDOW_MAX } from "./frame.ts";

/** See the file header. */
export class PeerSettings {
  /** What it takes ahead on each stream. */
  windowBytes: number = WINDOW_DEFAULT;
  /** Longest frame that it takes. */
  frameBytesMax: number = FRAME_BYTES_DEFAULT;

  /** Reads a payload of SETTINGS, whose length is a multiple of six. @returns why the connection cannot go on, or undefined */
  read(payload: Uint8Array): Fault | undefined {
    for (let at = 0; at < payload.length; at += 6) {
      const id = ((payload[at] as number) << 8) | (payload[at + 1] as number);
      const fault = this.set(id, numberAt(payload, at + 2));
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  private set(id: number, value: number): Fault | undefined {
    switch (id) {
      case Setting.EnablePush:
        return value > 1 ? { code: ErrorCode.ProtocolError, why: "ENABLE_PUSH is neither 0 nor 1" } : undefined;
      case Setting.InitialWindowSize:
        if (value > WINDOW_MAX) return { code: ErrorCode.FlowControlError, why: "INITIAL_WINDOW_SIZE is more than 2^31-1" };
        this.windowBytes = value;
        return undefined;
      case Setting.MaxFrameSize:
        if (value < FRAME_BYTES_DEFAULT || value > FRAME_BYTES_LARGEST) {
          return { code: ErrorCode.ProtocolError, why: "MAX_FRAME_SIZE is below 2^14 or above 2^24-1" };
        }
        this.frameBytesMax = value;
        return undefined;
      default:
        // The table of header compression is not used, nothing is pushed, and heads of answers are short.
        return undefined;
    }
  }
}
