/**
 * A profile as the protobuf message that `go tool pprof` and others read. Source: github.com/google/pprof, proto/profile.proto.
 *
 *   Profile   1 sample_type*  2 sample*  4 location*  5 function*  6 string_table*  9 time_nanos  10 duration_nanos
 *             11 period_type  12 period
 *   ValueType 1 type  2 unit            Sample   1 location_id*  2 value*
 *   Location  1 id  4 line*             Line     1 function_id  2 line      Function  1 id  2 name  3 system_name  4 filename  5 start_line
 *
 * Texts are positions in the table of strings, whose first is "".
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Profile, ValueType } from "./profile.ts";

const VARINT = 0;
const BYTES = 2;

class Strings {
  readonly list: string[] = [""];
  private readonly known: Map<string, number> = new Map([["", 0]]);

  of(text: string): number {
    let position = this.known.get(text);
    if (position === undefined) {
      position = this.list.length;
      this.list.push(text);
      this.known.set(text, position);
    }
    return position;
  }
}

/** The message, not packed. */
export function pprofMessage(profile: Profile): Uint8Array<ArrayBuffer> {
  const { types, frames, stacks, startNanos, durationNanos, period } = profile;
  const strings = new Strings();
  const writer = new BinaryWriter();
  for (const type of types) writer.tag(1, BYTES).bytes(valueType(type, strings));
  for (const { frames: found, values } of stacks) {
    const sample = new BinaryWriter();
    sample.tag(1, BYTES).fork();
    for (const frame of found) sample.uint64(frame + 1);
    sample.join().tag(2, BYTES).fork();
    for (const value of values) sample.int64(value);
    writer.tag(2, BYTES).bytes(sample.join().finish());
  }
  for (const [index, { line }] of frames.entries()) {
    const within = new BinaryWriter()
      .tag(1, VARINT)
      .uint64(index + 1)
      .tag(2, VARINT)
      .int64(line)
      .finish();
    writer.tag(4, BYTES).bytes(
      new BinaryWriter()
        .tag(1, VARINT)
        .uint64(index + 1)
        .tag(4, BYTES)
        .bytes(within)
        .finish(),
    );
  }
  for (const [index, { name, file, line }] of frames.entries()) {
    const text = strings.of(name.toWellFormed());
    const made = new BinaryWriter()
      .tag(1, VARINT)
      .uint64(index + 1)
      .tag(2, VARINT)
      .int64(text)
      .tag(3, VARINT)
      .int64(text);
    made.tag(4, VARINT).int64(strings.of(file.toWellFormed())).tag(5, VARINT).int64(line);
    writer.tag(5, BYTES).bytes(made.finish());
  }
  writer.tag(9, VARINT).int64(startNanos).tag(10, VARINT).int64(durationNanos);
  if (period !== undefined) writer.tag(11, BYTES).bytes(valueType(period, strings)).tag(12, VARINT).int64(period.value);
  for (const text of strings.list) writer.tag(6, BYTES).string(text);
  return new Uint8Array(writer.finish());
}

function valueType({ type, unit }: ValueType, strings: Strings): Uint8Array {
  return new BinaryWriter().tag(1, VARINT).int64(strings.of(type)).tag(2, VARINT).int64(strings.of(unit)).finish();
}
