/**
 * What happens to a request that finds `max_in_flight_write_bytes` used up: `wait` (10 s), `wait(30s)`, `fail`; `skip` is an older word
 * for `fail`. Source: contract http.md 6.3.
 */
import { parseHumanDuration, printHumanDuration } from "../base/text/human-duration.ts";
import { type Parsed, parsed, refused } from "../base/text/parsed.ts";
import { type DurationMillis, durationMillis } from "../base/units.ts";
import { type Kind, tomlString } from "./kind.ts";

/** Longest wait of a request for its share; 0: it is refused at once. */
export type ExhaustedPolicy = DurationMillis;

const WAIT_MS_DEFAULT = 10_000;
/** Longest wait that may be asked for. Reason: clients give up after minutes, and each keeps a connection. */
const WAIT_MS_MAX = 600_000;

/** `wait` as it stands without a time. */
export const WAIT_DEFAULT: ExhaustedPolicy = durationMillis(WAIT_MS_DEFAULT);

/** Reads and prints the policy. */
export const exhaustedPolicy: Kind<ExhaustedPolicy> = {
  want: '"wait", "wait(30s)" or "fail"',
  fromToml: (value) => (typeof value === "string" ? read(value) : refused("it is not a string")),
  fromText: read,
  toToml: (millis) => tomlString(print(millis)),
};

function read(text: string): Parsed<ExhaustedPolicy> {
  const word = text.trim().toLowerCase();
  if (word === "fail" || word === "skip") return parsed(durationMillis(0));
  if (word === "wait") return parsed(WAIT_DEFAULT);
  const time = /^wait\((.*)\)$/.exec(word)?.[1];
  if (time === undefined) return refused("it is none of these");
  const nanos = parseHumanDuration(time);
  if (!nanos.ok) return nanos;
  const millis = Number(nanos.value / 1_000_000n);
  if (millis < 1 || millis > WAIT_MS_MAX) return refused("its time is not between 1ms and 10m");
  return parsed(durationMillis(millis));
}

function print(millis: ExhaustedPolicy): string {
  if (millis === 0) return "fail";
  return millis === WAIT_MS_DEFAULT ? "wait" : `wait(${printHumanDuration(BigInt(millis) * 1_000_000n)})`;
}
