/** Reads the YAML of a pipeline: options by name and type, with errors that say where. */
import { DbError, errorText, restated } from "../../base/error.ts";
import { failure } from "./failure.ts";
import { PIPELINE_CHARACTERS_MAX, PIPELINE_ENTRIES_MAX } from "./limits.ts";

/** A mapping of the definition. */
export type Mapping = Readonly<Record<string, unknown>>;

/** Where a processor or transform reads and writes. */
export interface FieldSpec {
  readonly input: string;
  readonly output: string;
}

/** Parses the text of a definition. @throws DbError InvalidArguments */
export function parseDefinition(yaml: string): Mapping {
  if (yaml.length > PIPELINE_CHARACTERS_MAX) {
    throw failure(`Yaml load error.: the text has ${yaml.length} characters, at most ${PIPELINE_CHARACTERS_MAX}`);
  }
  const documents = yaml.split("\n").filter((line, i) => i > 0 && /^---(?:\s|$)/.test(line)).length;
  let parsed: unknown;
  try {
    parsed = Bun.YAML.parse(yaml);
  } catch (error) {
    throw failure(`Yaml load error.: ${errorText(error)}`);
  }
  if (Array.isArray(parsed) && documents > 0) throw failure("Yaml load error.: a pipeline is exactly one document");
  if (!isMapping(parsed)) throw failure("Yaml load error.: a pipeline is a mapping with processors and transform");
  return parsed;
}

/** Whether a value of the definition is a mapping. */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A scalar as text; undefined for null, lists and mappings. */
export function scalarText(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
    case "boolean":
    case "bigint":
      return String(value);
    default:
      return undefined;
  }
}

/** A list under a key; absent is empty. @throws DbError InvalidArguments */
export function listOf(mapping: Mapping, key: string): readonly unknown[] {
  const value = mapping[key];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw failure(`${key} must be a list`);
  if (value.length > PIPELINE_ENTRIES_MAX) throw failure(`${key} has ${value.length} entries, at most ${PIPELINE_ENTRIES_MAX}`);
  return value;
}

/** Line, from 1, of an item of a block list under a top-level key; undefined where the text is written otherwise. */
function lineOfItem(yaml: string, key: string, index: number): number | undefined {
  const lines = yaml.split("\n");
  let at = lines.findIndex((line) => line.startsWith(`${key}:`));
  if (at < 0) return undefined;
  let indent: number | undefined;
  let seen = -1;
  for (at++; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (/^\s*(?:#|$)/.test(line)) continue;
    const spaces = line.length - line.trimStart().length;
    const isItem = /^\s*-(?:\s|$)/.test(line);
    if (spaces === 0 && !isItem) return undefined;
    if (!isItem) continue;
    indent ??= spaces;
    if (spaces === indent && ++seen === index) return at + 1;
  }
  return undefined;
}

/** Runs the compiler of one item; its error gets the item's line. */
export function withLine<T>(yaml: string, key: string, index: number, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    const line = lineOfItem(yaml, key, index);
    if (!(error instanceof DbError) || line === undefined) throw error;
    throw restated(error, `${error.message} (line ${line})`);
  }
}

/** Options of one processor. */
export class Options {
  readonly processor: string;
  private readonly mapping: Mapping;

  constructor(processor: string, mapping: Mapping) {
    this.processor = processor;
    this.mapping = mapping;
  }

  /** The error of an option. */
  refused(name: string, why: string): DbError {
    return failure(`Processor ${this.processor}: ${name} ${why}`);
  }

  /** Text, numbers and booleans as text; undefined when absent. */
  text(name: string): string | undefined {
    const value = this.mapping[name];
    if (value === undefined || value === null) return undefined;
    const text = scalarText(value);
    if (text === undefined) throw this.refused(name, "must be a string");
    return text;
  }

  /** One of a set of words. */
  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const choice = choices.find((candidate) => candidate === text.toLowerCase());
    if (choice === undefined) throw this.refused(name, `must be one of ${choices.join(", ")}, but is ${text}`);
    return choice;
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.mapping[name];
    if (value === undefined || value === null) return fallback;
    if (typeof value !== "boolean") throw this.refused(name, "must be true or false");
    return value;
  }

  wholeNumber(name: string): number | undefined {
    const value = this.mapping[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw this.refused(name, "must be a whole number");
    return value;
  }

  /** A list of texts; one text is a list of one; absent is empty. */
  texts(name: string): readonly string[] {
    const value = this.mapping[name];
    if (value === undefined || value === null) return [];
    const items = Array.isArray(value) ? value : [value];
    if (items.length > PIPELINE_ENTRIES_MAX) throw this.refused(name, `has ${items.length} entries, at most ${PIPELINE_ENTRIES_MAX}`);
    return items.map((item: unknown) => {
      const text = scalarText(item);
      if (text === undefined) throw this.refused(name, "must be a list of strings");
      return text;
    });
  }

  /** The fields, at least one. */
  fields(): readonly FieldSpec[] {
    return fieldsOf(this.mapping, `Processor ${this.processor}`);
  }

  get ignoreMissing(): boolean {
    return this.flag("ignore_missing", false);
  }
}

/** `field` and `fields`, whichever comes last. @throws DbError InvalidArguments */
export function fieldsOf(mapping: Mapping, what: string): readonly FieldSpec[] {
  const key = Object.keys(mapping).findLast((name) => name === "field" || name === "fields");
  const value = key === undefined ? undefined : mapping[key];
  if (value === undefined || value === null) throw failure(`${what}: field or fields is required`);
  const specs = Array.isArray(value) ? value : [value];
  if (specs.length === 0) throw failure(`${what}: fields is empty`);
  if (specs.length > PIPELINE_ENTRIES_MAX) throw failure(`${what}: fields has ${specs.length} entries, at most ${PIPELINE_ENTRIES_MAX}`);
  return specs.map((spec: unknown) => specOf(spec, what));
}

function specOf(spec: unknown, what: string): FieldSpec {
  let input: string;
  let output: string | undefined;
  if (isMapping(spec)) {
    const { key, rename_to: renameTo } = spec;
    if (typeof key !== "string") throw failure(`${what}: a field needs key: <name>`);
    if (renameTo !== undefined && typeof renameTo !== "string") throw failure(`${what}: rename_to of field ${key} must be a string`);
    [input, output] = [key, renameTo];
  } else {
    const text = scalarText(spec);
    if (text === undefined) throw failure(`${what}: a field must be a string or a mapping with key and rename_to`);
    const parts = text.split(",");
    [input, output] = [(parts[0] ?? "").trim(), parts[1]?.trim()];
  }
  if (input === "") throw failure(`${what}: a field has no name`);
  return { input, output: output === undefined || output === "" ? input : output };
}
