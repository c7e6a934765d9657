/**
 * The configuration as a file: its keys are the options of the commands, without the dashes, and
 * its values what one would type. Printing and JSON schema are made from the options' tables.
 */
import type { Option } from "commander";
import type { Gate } from "../acquirers/gates.ts";
import type { Endpoint, EndpointSettings, Merchant, MerchantSettings } from "../orders/merchant.ts";
import { listKinds } from "../screening/list-kinds.ts";
import { listNames } from "../screening/lists.ts";
import { rules } from "../screening/rules/index.ts";
import type { AuditEntry } from "../storage/audit.ts";
import type { Configuration } from "../storage/configuration.ts";
import type { DirectoryServer } from "../threeds/directory-client.ts";
import type { Fee } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { directoryTable } from "./directory.ts";
import { endpointTable } from "./endpoint.ts";
import { gateTable, gateValuesOf } from "./gate.ts";
import { type HostAddresses, printAddresses } from "./gate-links.ts";
import { merchantTable } from "./merchant.ts";
import { endpointsOf } from "./merchant-set.ts";
import { type GivenOptions, printFee, printLimit, printSwitch } from "./options.ts";

type FileValue = string | number | boolean | readonly string[];
export type FileEntry = Readonly<Record<string, FileValue>>;
type Table = readonly { readonly option: Option; readonly setting: PropertyKey }[];

/** The opposite of `without-cvv`, which is true or false in a file. */
const opposite = "--with-cvv";

/** Limits are amounts in the currency of an endpoint, or in any of a gate's currencies. */
export function printSettings(table: Table, settings: object, currency?: string): FileEntry {
  const known: Readonly<Record<PropertyKey, unknown>> = { ...settings };
  const printed: Record<string, FileValue> = {};
  for (const { option, setting } of table) {
    const value = known[setting];
    if (value === undefined || option.long === opposite) continue;
    const isAmount = currency !== undefined && String(setting).startsWith("amount");
    printed[keyOf(option.long)] = isAmount
      ? printLimit(String(value), currency)
      : printValue(value, option.required);
  }
  return printed;
}

function printValue(value: unknown, hasText: boolean): FileValue {
  if (typeof value === "boolean") return hasText ? printSwitch(value) : value;
  if (typeof value === "number" || typeof value === "string") return value;
  if (Array.isArray(value)) return value.length === 0 ? "all" : value.map(String);
  // Objects among the settings are addresses or fees.
  const found = value as HostAddresses | Fee;
  return "host" in found ? printAddresses(found) : printFee(found);
}

function keyOf(long: string | undefined): string {
  return (long ?? "").replace(/^--/, "");
}

/** As Commander would give them. A key that is no option is a problem. */
export function readEntry(table: Table, entry: object, what: string): GivenOptions | Problem {
  const given: Record<string, string> = {};
  for (const [key, value] of Object.entries(entry)) {
    const option = table.find(({ option: { long } }) => long === `--${key}`)?.option;
    if (option === undefined || `--${key}` === opposite) {
      return new Problem(`${what} has no setting ${key}.`);
    }
    const name = key === "without-cvv" && value === false ? "withCvv" : option.attributeName();
    given[name] = textOf(value, option.required);
  }
  // Commander gives `true` for an option without a value.
  return { ...given, ...(given["withCvv"] && { withCvv: true }) };
}

function textOf(value: unknown, hasText: boolean): string {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "boolean" && hasText ? printSwitch(value) : String(value);
}

export function printGate(gate: Pick<Gate, "kind" | "settings">): FileEntry {
  return printSettings(gateTable(), gateValuesOf(gate), gate.settings.currencies?.[0]);
}

export function printDirectory({ networks, settings }: Omit<DirectoryServer, "name">): FileEntry {
  return printSettings(directoryTable, { networks, ...settings });
}

export function printMerchant(
  settings: MerchantSettings,
  { cell, enabled }: { readonly cell: string; readonly enabled: boolean },
): FileEntry {
  return { cell, enabled, ...printSettings(merchantTable, settings) };
}

type PrintedEndpoint = Pick<Endpoint, "currency" | "enabled"> & {
  readonly settings: EndpointSettings;
  readonly gates: readonly string[];
};

export function printEndpoint(endpoint: PrintedEndpoint): FileEntry {
  const { currency, enabled, gates, settings } = endpoint;
  return { currency, enabled, gates, ...printSettings(endpointTable(), settings, currency) };
}

export function placesOf({ gates }: Endpoint): readonly string[] {
  return gates.map(({ name, rank, weight }) => `${name}:${rank}:${weight}`);
}

/** What `gw export` writes: everything but secrets. */
export function printConfiguration(
  configuration: Configuration,
  directories: readonly DirectoryServer[],
) {
  const { merchants, gates, groups } = configuration;
  const named = <Entry extends { readonly name: string }>(
    entries: readonly Entry[],
    print: (entry: Entry) => FileEntry,
  ) => Object.fromEntries(entries.map((entry) => [entry.name, print(entry)]));
  return {
    gates: named([...gates.values()], printGate),
    directories: named(directories, printDirectory),
    merchants: Object.fromEntries(
      merchants.map((merchant) => {
        const endpoints = endpointsOf(merchant, configuration);
        const own = groups.filter((group) => group.merchant.id === merchant.id);
        return [
          merchant.login,
          {
            ...printMerchant(merchant.settings, merchant),
            endpoints: named(endpoints, (each) =>
              printEndpoint({ ...each, gates: placesOf(each) }),
            ),
            groups: named(own, (group) => ({
              enabled: group.enabled,
              endpoints: group.endpoints.map(({ name }) => name),
            })),
          },
        ];
      }),
    ),
  };
}

/** As one would type them, by the options of the commands that set them. */
export const settingsOf = {
  merchant: ({ settings }: Merchant) => asTexts(printSettings(merchantTable, settings)),
  endpoint: ({ settings, currency }: Endpoint) =>
    asTexts(printSettings(endpointTable(), settings, currency)),
  gate: (gate: Gate) => asTexts(printGate(gate)),
};

/** What the audit would keep, with settings as one types them: 100.00 and not 10000. */
export function asTyped({ subject, before, after, ...entry }: AuditEntry): AuditEntry {
  const [kind = ""] = subject.split(" ", 1);
  const print = (kept: KeptConfiguration) => printKept(kind, kept);
  return { ...entry, subject, before: before && print(before), after: after && print(after) };
}

type KeptConfiguration = {
  readonly settings?: { readonly currencies?: readonly string[] };
  readonly enabled?: boolean;
  readonly currency?: string;
};

function printKept(kind: string, kept: KeptConfiguration): object {
  const { settings, enabled, ...rest } = kept;
  const table = tableOf(kind);
  if (settings === undefined || table === undefined) return kept;
  const { currency = settings.currencies?.[0] } = rest;
  const values = kind === "gate" ? gateValuesOf({ ...rest, settings } as Gate) : settings;
  const others = Object.entries(values).filter(
    ([name]) => !table.some(({ setting }) => setting === name),
  );
  return {
    ...{ ...rest, ...Object.fromEntries(others) },
    ...(enabled !== undefined && { enable: printSwitch(enabled) }),
    ...printSettings(table, values, currency),
  };
}

function tableOf(kind: string): Table | undefined {
  if (kind === "merchant") return merchantTable;
  if (kind === "endpoint") return endpointTable();
  return kind === "gate" ? gateTable() : undefined;
}

function asTexts(entry: FileEntry): Readonly<Record<string, string>> {
  const pairs = Object.entries(entry).map(([name, value]) => {
    return [name, Array.isArray(value) ? value.join(",") : String(value)] as const;
  });
  return Object.fromEntries(pairs);
}

/** For editors: the same tables as a JSON schema. */
export function makeSchema() {
  const texts = { type: "array", items: { type: "string" } };
  const flag = { type: "boolean" };
  const endpoint = propertiesOf(endpointTable(), {
    ...{ currency: { type: "string" }, enabled: flag, gates: texts },
  });
  const group = { ...closed({ enabled: flag, endpoints: texts }) };
  const merchant = propertiesOf(merchantTable, {
    ...{ cell: { type: "string" }, enabled: flag, "control-key-file": { type: "string" } },
    ...{ "oauth-key-files": texts, "walleta-key-files": texts, "walletb-key-files": texts },
    ...{ endpoints: mapOf(endpoint), groups: mapOf(group) },
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of Tollgate, for gw apply",
    ...closed({
      gates: mapOf(propertiesOf(gateTable(), macKeySchema)),
      directories: mapOf(propertiesOf(directoryTable)),
      merchants: mapOf(merchant),
      screening: screeningSchema,
    }),
  };
}

const text = { type: "string" };
const macKeySchema = {
  "mac-key-file": text,
  "mac-algorithm": { enum: ["retail", "retail_80", "cmac"] },
  "mac-bytes": { enum: [4, 8] },
};
const place = { merchant: text, endpoint: text };

/** A rule's parameters are its kind's: `gw filter add <kind> --help`. */
const screeningSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    rules: {
      type: "array",
      items: {
        type: "object",
        required: ["rule"],
        properties: {
          ...{ rule: { enum: rules.map(({ kind }) => kind) }, ...place },
          ...{ action: { enum: ["block", "3ds", "mark", "allow"] }, enabled: { type: "boolean" } },
        },
      },
    },
    lists: {
      type: "array",
      items: {
        type: "object",
        required: ["list", "kind", "value"],
        additionalProperties: false,
        properties: {
          ...{ list: { enum: listNames }, kind: { enum: listKinds.map(({ name }) => name) } },
          ...{ value: { type: ["string", "number"] }, ...place, expires: text, reason: text },
        },
      },
    },
  },
};

const closed = (properties: object) => ({
  ...{ type: "object", additionalProperties: false, properties },
});
const mapOf = (entry: object) => ({ type: "object", additionalProperties: entry });

function propertiesOf(table: Table, more: object = {}) {
  const rows = table.filter(({ option: { long } }) => long !== opposite);
  const properties = rows.map(({ option: { long, flags, description, required } }) => {
    const isSwitch = flags.includes("<on|off>");
    const text = { type: ["string", "number", "array", "null"] };
    const type = isSwitch ? { enum: ["on", "off", true, false] } : text;
    return [keyOf(long), { description, ...(required ? type : { type: "boolean" }) }] as const;
  });
  return closed({ ...more, ...Object.fromEntries(properties) });
}
