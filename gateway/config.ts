/**
 * The environment becomes a `Config` once, at the start. Values that cannot be read, and what
 * production does not allow, are told together, one sentence each.
 */
import { type Config, type Setting, type SettingName, settings } from "./settings.ts";

export type { Config } from "./settings.ts";
export type Environment = Readonly<Record<string, string | undefined>>;

export class ConfigProblems {
  readonly sentences: readonly string[];

  constructor(sentences: readonly string[]) {
    this.sentences = sentences;
  }
}

export function readConfig(environment: Environment): Config | ConfigProblems {
  const isProduction = environment["GW_ENV"] === "production";
  const problems: string[] = [];
  const values = Object.entries<Setting<unknown>>(settings).map(([key, setting]) => {
    const text = environment[setting.name];
    if (text === undefined || text === "") {
      return [key, isProduction ? setting.production : setting.staging];
    }
    const value = setting.read(text);
    if (value === undefined) problems.push(`${setting.name} must be ${setting.expects}.`);
    return [key, value];
  });
  // Each value was read by the setting that its name has in the table.
  const config = Object.fromEntries(values) as Config;
  if (problems.length === 0 && isProduction) problems.push(...productionProblems(config));
  return problems.length > 0 ? new ConfigProblems(problems) : config;
}

/** What `gw config` prints. */
export function describeConfig(environment: Environment) {
  const config = readConfig(environment);
  return Object.entries<Setting<unknown>>(settings).map(([key, { name, meaning }]) => ({
    name,
    value: config instanceof ConfigProblems ? undefined : config[key as SettingName],
    origin: environment[name] === undefined || environment[name] === "" ? "default" : "environment",
    meaning,
  }));
}

/** The address that merchants use: signatures cover it, and browsers are sent to it. */
export function baseUrlOf(config: Config, port: number): string {
  if (config.baseUrl !== "") return config.baseUrl.replace(/\/+$/, "");
  const host = config.host === "0.0.0.0" || config.host === "127.0.0.1" ? "localhost" : config.host;
  return `http://${host}:${port}`;
}

function productionProblems(config: Config): readonly string[] {
  const problems: string[] = [];
  if (!config.baseUrl.startsWith("https://")) {
    problems.push("In production GW_BASE_URL must be an https:// address.");
  }
  if (config.masterKeyFile === "") {
    problems.push("In production GW_MASTER_KEY_FILE must name your key-encryption key.");
  }
  return problems;
}
