/** The text of `/config`: the effective settings as TOML, in the order of the contract (http.md 1.5), passwords masked. */
import { maskUserProvider } from "../base/text/mask-user-provider.ts";
import type { Knob } from "./knob.ts";
import { KNOBS } from "./knobs.ts";
import { type Role, whyUnused } from "./role.ts";
import type { Settings } from "./settings.ts";

/** Prints the settings in force; settings that are unset, or that the role does not use, are left out. */
export function renderConfig(settings: Settings, role: Role = "standalone"): string {
  const { general, logging, storage, cluster } = settings;
  const shown: Settings = {
    ...settings,
    general: { ...general, userProvider: mask(general.userProvider) },
    storage: { ...storage, accessKeyId: hidden(storage.accessKeyId), secretAccessKey: hidden(storage.secretAccessKey) },
    cluster: {
      ...cluster,
      secret: hidden(cluster.secret),
      natsPassword: hidden(cluster.natsPassword),
      natsToken: hidden(cluster.natsToken),
      natsSystemPassword: hidden(cluster.natsSystemPassword),
    },
    logging: { ...logging, otlpEndpoint: logging.otlpEndpoint.replace(/\/\/[^/?#]*@/, "//***@") },
  };
  const sections: string[] = [];
  for (const [name, knobs] of Object.entries(KNOBS)) {
    const fields: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(shown[name as keyof Settings]));
    const lines = Object.entries<Knob<unknown>>(knobs).flatMap(([field, knob]) => {
      const literal = knob.kind.toToml(fields[field]);
      return literal === undefined || whyUnused(role, knob.key) !== undefined
        ? []
        : [`${knob.key.slice(name === "general" ? 0 : name.length + 1)} = ${literal}`];
    });
    if (lines.length === 0) continue;
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
