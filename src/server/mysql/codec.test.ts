import { expect, test } from "bun:test";
import { Outgoing } from "../wire/outgoing.ts";
import { MalformedPacket, PacketReader, PacketWriter } from "./codec.ts";
import { PART_BYTES } from "./packets.ts";

function writer(): { readonly packets: PacketWriter; readonly bytes: () => Uint8Array } {
  const outgoing = new Outgoing({ write: (_, done) => done() });
  return { packets: new PacketWriter(outgoing), bytes: () => outgoing.bytes.subarray(0, outgoing.used) };
}

test("lengths of every width come back as they were, and cut ones are refused", () => {
  for (const value of [0, 1, 0xfa, 0xfb, 0xff, 0x100, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, 2 ** 32, 2 ** 40]) {
    const { packets, bytes } = writer();
    packets.lenenc(value);
    expect(new PacketReader(bytes()).lenenc()).toBe(value);
    for (let end = 0; end < bytes().length; end++)
      expect(() => new PacketReader(bytes().subarray(0, end)).lenenc()).toThrow(MalformedPacket);
  }
  for (const first of [0xfb, 0xff]) expect(() => new PacketReader(Uint8Array.of(first, 0, 0)).lenenc()).toThrow(MalformedPacket);
});

test("texts behind a length that is longer than the packet are refused before anything is taken", () => {
  expect(() => new PacketReader(Uint8Array.of(0xfe, 255, 255, 255, 255, 255, 255, 31, 0, 97)).lenencBytes()).toThrow(MalformedPacket);
});

test("payloads at the edges of a packet become as many as they need", () => {
  for (const length of [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES, 2 * PART_BYTES + 5]) {
    const { packets, bytes } = writer();
    packets.sequence = 254;
    const payload = new Uint8Array(length);
    for (let i = 0; i < length; i += 4093) payload[i] = i % 251;
    const place = packets.begin();
    packets.outgoing.raw(payload);
    packets.end(place);
    const parts: Uint8Array[] = [];
    let sequence = 254;
    for (let at = 0; at < bytes().length; ) {
      const all = bytes();
      const part = all[at]! | (all[at + 1]! << 8) | (all[at + 2]! << 16);
      expect(all[at + 3]).toBe(sequence);
      sequence = (sequence + 1) & 0xff;
      parts.push(all.subarray(at + 4, at + 4 + part));
      at += 4 + part;
    }
    expect(parts).toHaveLength(Math.floor(length / PART_BYTES) + 1);
    expect(packets.sequence).toBe(sequence);
    expect(Buffer.concat(parts).equals(payload)).toBe(true);
  }
});
