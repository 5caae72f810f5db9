/** The text of `/config`: the effective settings as TOML, in the order of the contract (http.md 1.5), passwords masked. */
import { maskUserProvider } from "../base/text/mask-user-provider.ts";
import { KNOBS, type Knob } from "./knobs.ts";
import type { Settings } from "./settings.ts";

/** Prints the settings in force; settings that are unset are left out. */
export function renderConfig(settings: Settings): string {
  const { general, logging, storage } = settings;
  const shown: Settings = {
    ...settings,
    general: { ...general, userProvider: mask(general.userProvider) },
    storage: { ...storage, accessKeyId: hidden(storage.accessKeyId), secretAccessKey: hidden(storage.secretAccessKey) },
    logging: { ...logging, otlpEndpoint: logging.otlpEndpoint.replace(/\/\/[^/?#]*@/, "//***@") },
  };
  const sections: string[] = [];
  for (const [name, knobs] of Object.entries(KNOBS)) {
    const fields: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(shown[name as keyof Settings]));
    const lines = Object.entries<Knob<unknown>>(knobs).flatMap(([field, knob]) => {
      const literal = knob.kind.toToml(fields[field]);
      return literal === undefined ? [] : [`${knob.key.slice(name === "general" ? 0 : name.length + 1)} = ${literal}`];
    });
    const header = name === "general" ? [] : [`[${name}]`];
    sections.push([...header, ...lines].join("\n"));
  }
  return `${sections.join("\n\n")}\n`;
}

function mask(provider: string | undefined): string | undefined {
  return provider === undefined ? undefined : maskUserProvider(provider);
}

function hidden(secret: string | undefined): string | undefined {
  return secret === undefined ? undefined : "***";
}
