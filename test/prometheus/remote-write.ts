/** Sends series by remote write, in requests of a bounded size. */
import { compress } from "snappyjs";
import { bytesField, sampleMessage, textField, varint } from "../support/prometheus/messages.ts";
import type { DemoSeries } from "./demo-data.ts";

/** Samples of a request, nearly. */
const SAMPLES_MAX = 20_000;
const STALE_BYTES: readonly number[] = [0x09, 0x02, 0, 0, 0, 0, 0, 0xf0, 0x7f, 0x10];

/** @param url of the endpoint @throws Error for any status but 2xx */
export async function sendSeries(url: string, all: readonly DemoSeries[]): Promise<void> {
  let parts: number[][] = [];
  let samples = 0;
  for (const series of all) {
    if (series.samples.length === 0) continue;
    parts.push(messageOf(series));
    samples += series.samples.length;
    if (samples < SAMPLES_MAX) continue;
    await send(url, parts);
    parts = [];
    samples = 0;
  }
  if (parts.length > 0) await send(url, parts);
}

function messageOf({ labels, samples }: DemoSeries): number[] {
  const names = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const message = names.flatMap(([name, value]) => bytesField(1, [...textField(1, name), ...textField(2, value)]));
  for (const { time, value } of samples) {
    const sample = value === "stale" ? [...STALE_BYTES, ...varint(time)] : sampleMessage(time, value);
    message.push(...bytesField(2, sample));
  }
  return bytesField(1, message);
}

async function send(url: string, parts: readonly (readonly number[])[]): Promise<void> {
  const headers = {
    "content-type": "application/x-protobuf",
    "content-encoding": "snappy",
    "x-prometheus-remote-write-version": "0.1.0",
  };
  const response = await fetch(url, { method: "POST", headers, body: compress(Uint8Array.from(parts.flat())) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
}
