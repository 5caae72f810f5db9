/** A block of headers out of HEADERS and CONTINUATION frames (RFC 9113 4.3, 6.2, 6.10), bounded in bytes and in frames. */
import { ErrorCode, type Fault, Flag, numberAt } from "./frame.ts";
import { type HeaderBlock, HeaderDecoder } from "./hpack/header-decoder.ts";
import { HEADER_BLOCK_BYTES_MAX, HEADER_FRAMES_MAX } from "./limits.ts";

/** A block that is whole. */
export interface GatheredHeaders {
  /** Undefined: it cannot be read. */
  readonly block: HeaderBlock | undefined;
  readonly stream: number;
  /** Nothing follows on the stream. */
  readonly isLast: boolean;
  /** The stream that it names as more important. */
  readonly dependsOn: number | undefined;
}

/** See the file header. */
export class HeaderGatherer {
  /** Stream of the block that is not whole; undefined: there is none. */
  stream: number | undefined;
  isWhole = false;
  private readonly decoder: HeaderDecoder = new HeaderDecoder();
  private parts: Uint8Array[] = [];
  private bytes = 0;
  private frames = 0;
  private isLast = false;
  private dependsOn: number | undefined;

  /** HEADERS. @param payload borrowed: it is taken before the next frame, or copied */
  begin(flags: number, stream: number, payload: Uint8Array): Fault | undefined {
    let from = 0;
    let to = payload.length;
    if ((flags & Flag.Padded) !== 0) {
      from = 1;
      to -= payload[0] ?? 0;
    }
    this.dependsOn = undefined;
    if ((flags & Flag.Priority) !== 0) {
      if (from + 5 <= to) this.dependsOn = numberAt(payload, from) & 0x7fff_ffff;
      from += 5;
    }
    if (from > to) return { code: ErrorCode.ProtocolError, why: "HEADERS have more padding than bytes" };
    this.stream = stream;
    this.isLast = (flags & Flag.EndStream) !== 0;
    this.bytes = 0;
    this.frames = 0;
    this.parts = [];
    return this.keep(flags, payload.subarray(from, to));
  }

  /** CONTINUATION. */
  add(flags: number, stream: number, payload: Uint8Array): Fault | undefined {
    if (this.stream !== stream) return { code: ErrorCode.ProtocolError, why: "CONTINUATION follows no HEADERS" };
    return this.keep(flags, payload);
  }

  /** The block, which is whole. */
  take(): GatheredHeaders {
    const { stream = 0, isLast, dependsOn } = this;
    const [only] = this.parts;
    const block = this.decoder.decode(this.parts.length === 1 && only !== undefined ? only : Buffer.concat(this.parts));
    this.stream = undefined;
    this.isWhole = false;
    this.parts = [];
    return { block, stream, isLast, dependsOn };
  }

  private keep(flags: number, part: Uint8Array): Fault | undefined {
    this.isWhole = (flags & Flag.EndHeaders) !== 0;
    this.bytes += part.length;
    this.frames++;
    if (this.bytes > HEADER_BLOCK_BYTES_MAX)
      return { code: ErrorCode.EnhanceYourCalm, why: `headers are longer than ${HEADER_BLOCK_BYTES_MAX} bytes` };
    if (this.frames > HEADER_FRAMES_MAX)
      return { code: ErrorCode.EnhanceYourCalm, why: `headers are more than ${HEADER_FRAMES_MAX} frames` };
    this.parts.push(this.isWhole && this.frames === 1 ? part : part.slice());
    return undefined;
  }
}
