import { expect, test } from "bun:test";
import { INERT_KEYS } from "./inert-keys.ts";
import { ALL_KNOBS, KNOBS } from "./knobs.ts";
import { START_FLAGS } from "./start-flags.ts";

test("every knob is in its section, is printed as it is read, says why, and has a value or an example", () => {
  for (const [section, knobs] of Object.entries(KNOBS)) {
    for (const knob of Object.values(knobs)) {
      expect(knob.key.startsWith(`${section}.`)).toBe(section !== "general");
      expect(knob.reason).toEndWith(".");
    }
  }
  for (const knob of ALL_KNOBS) {
    const literal = knob.kind.toToml(knob.default);
    const shown = knob.default ?? knob.example;
    expect(knob.kind.fromToml(JSON.parse(knob.kind.toToml(shown) ?? "null"))).toEqual({ ok: true, value: shown });
    if (literal !== undefined) expect(knob.kind.fromToml(JSON.parse(literal))).toEqual({ ok: true, value: knob.default });
  }
});

test("no key is known twice", () => {
  const keys = [...ALL_KNOBS.map((knob) => knob.key), ...INERT_KEYS];
  expect(new Set(keys).size).toBe(keys.length);
});

test("every flag has a key, a purpose of its own, or a reason why it does nothing", () => {
  const own = ["config-file", "env-prefix", "help", "version"];
  const keys = new Set(ALL_KNOBS.map((knob) => knob.key));
  for (const flag of START_FLAGS) {
    expect(
      own.includes(flag.name) || flag.tls !== undefined || flag.inert !== undefined || (flag.key !== undefined && keys.has(flag.key)),
    ).toBe(true);
  }
});
