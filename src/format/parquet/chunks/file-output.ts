import { crc32 } from "../../../base/bytes/hash.ts";
import { OUTPUT_BUFFER_BYTES } from "../limits.ts";
import type { ByteSink } from "../types.ts";

const MAGIC: Uint8Array = new TextEncoder().encode("PAR1");

/** Collects the bytes of a file into writes of about 1 MiB and counts them. The file begins with its magic bytes; `finish` ends it. */
export class FileOutput {
  private readonly sink: ByteSink;
  private readonly buffer = new Uint8Array(OUTPUT_BUFFER_BYTES);
  private buffered = 0;
  private checksum = 0;
  /** Of all bytes, once `checksum` began anew: behind the tail's begin each byte is summed twice, which are the indexes and the footer. */
  private whole: number | undefined;
  /** Bytes of the file so far. */
  offset = 0;

  constructor(sink: ByteSink) {
    this.sink = sink;
    this.write(MAGIC);
  }

  write(bytes: Uint8Array): void {
    this.offset += bytes.length;
    this.checksum = crc32(bytes, this.checksum);
    if (this.whole !== undefined) this.whole = crc32(bytes, this.whole);
    if (this.buffered + bytes.length > this.buffer.length) this.flush();
    if (bytes.length >= this.buffer.length) {
      this.sink.write(bytes);
      return;
    }
    this.buffer.set(bytes, this.buffered);
    this.buffered += bytes.length;
  }

  /** Starts a new checksum with the next byte. */
  startChecksum(): void {
    this.whole ??= this.checksum;
    this.checksum = 0;
  }

  /** CRC-32 of all bytes so far. */
  get fileCrc(): number {
    return this.whole ?? this.checksum;
  }

  /** CRC-32 of everything since `startChecksum`. */
  get crc(): number {
    return this.checksum;
  }

  /** Writes the footer, its length and the magic bytes: the file is complete. */
  finish(footer: Uint8Array): void {
    this.write(footer);
    const end = new Uint8Array(8);
    new DataView(end.buffer).setUint32(0, footer.length, true);
    end.set(MAGIC, 4);
    this.write(end);
    this.flush();
  }

  private flush(): void {
    if (this.buffered > 0) this.sink.write(this.buffer.subarray(0, this.buffered));
    this.buffered = 0;
  }
}
