/** The configuration as a file. The file and its JSON schema are made from tables of settings. */
import type { Gate } from "../acquirers/gates.ts";
import type { Endpoint, EndpointSettings, Merchant, MerchantSettings } from "../orders/merchant.ts";
import { rules } from "../screening/rules/index.ts";
import type { Configuration } from "../storage/configuration/configuration.ts";
import type { AuditEntry } from "../storage/people/audit.ts";
import type { DirectoryServer } from "../threeds/directory-client.ts";
import { type Currency, findCurrency, getCurrency } from "../values/iso-codes.ts";
import { endpointsOf } from "./find.ts";
import { directoryTable } from "./gates/directories.ts";
import { gateTable, gateValuesOf, type ReadGate } from "./gates/gate-settings.ts";
import { printCallbackUrls } from "./merchants/endpoint-callbacks.ts";
import { endpointTable, placesOf } from "./merchants/endpoint-settings.ts";
import { merchantTable } from "./merchants/merchants.ts";
import { printRoutes } from "./merchants/routes.ts";
import { printSwitch } from "./readers.ts";
import { type FileEntry, type PrintedSetting, printSettings, schemaOf } from "./settings.ts";

/**
 * A gate's limits are printed with the decimals of its first currency, because all its currencies
 * have the same number of decimals.
 */
export function printGate(gate: ReadGate): FileEntry {
  const [code = ""] = gate.settings.currencies ?? [];
  return printSettings(gateTable(findCurrency(code)), gateValuesOf(gate));
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
  const urls = printCallbackUrls(settings);
  const lists = { ...urls, ...printRoutes(settings) };
  return { currency, enabled, gates, ...lists, ...printEndpointSettings(endpoint) };
}

function printEndpointSettings({
  settings,
  currency,
}: Pick<PrintedEndpoint, "settings" | "currency">) {
  return printSettings(endpointTable(getCurrency(currency)), settings);
}

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

export const settingsOf = {
  merchant: ({ settings }: Merchant) => asTexts(printSettings(merchantTable, settings)),
  endpoint: (endpoint: Endpoint) => asTexts(printEndpointSettings(endpoint)),
  gate: (gate: ReadGate) => asTexts(printGate(gate)),
};

/** Prints the settings in an audit entry as a user types them: 100.00 and not 10000. */
export function asTyped({ subject, before, after, ...entry }: AuditEntry): AuditEntry {
  const [kind = ""] = subject.split(" ", 1);
  const print = (kept: KeptConfiguration) => printKept(kind, kept);
  return { ...entry, subject, before: before && print(before), after: after && print(after) };
}

type KeptConfiguration = {
  readonly settings?: Pick<EndpointSettings, "callbackUrls" | "routes"> & {
    readonly currencies?: readonly string[];
  };
  readonly enabled?: boolean;
  readonly currency?: string;
};

function printKept(kind: string, kept: KeptConfiguration): object {
  const { settings, enabled, ...rest } = kept;
  const currency = findCurrency(rest.currency ?? settings?.currencies?.[0] ?? "");
  const table = tableOf(kind, currency);
  if (settings === undefined || table === undefined) return kept;
  // The audit stores a gate as its database row, so the row's settings are converted to fields.
  const { callbackUrls: _, routes: __, ...plain } = settings;
  const values = kind === "gate" ? gateValuesOf({ ...rest, settings } as Gate) : plain;
  const others = Object.entries(values).filter(([name]) => !table.some(({ key }) => key === name));
  return {
    ...rest,
    ...Object.fromEntries(others),
    ...printCallbackUrls(settings),
    ...printRoutes(settings),
    ...(enabled !== undefined && { enable: printSwitch(enabled) }),
    ...printSettings(table, values),
  };
}

function tableOf(kind: string, currency?: Currency): readonly PrintedSetting[] | undefined {
  if (kind === "merchant") return merchantTable;
  if (kind === "endpoint") return endpointTable(currency);
  return kind === "gate" ? gateTable(currency) : undefined;
}

function asTexts(entry: FileEntry): Readonly<Record<string, string>> {
  const pairs = Object.entries(entry).map(([name, value]) => {
    return [name, Array.isArray(value) ? value.join(",") : String(value)] as const;
  });
  return Object.fromEntries(pairs);
}

export function makeSchema() {
  const texts = { type: "array", items: { type: "string" } };
  const flag = { type: "boolean" };
  const endpoint = closed({
    currency: { type: "string" },
    enabled: flag,
    gates: texts,
    "callback-urls": texts,
    routes: texts,
    ...schemaOf(endpointTable()),
  });
  const group = { ...closed({ enabled: flag, endpoints: texts }) };
  const merchant = closed({
    cell: { type: "string" },
    enabled: flag,
    "control-key-file": { type: "string" },
    "oauth-key-files": texts,
    "walleta-key-files": texts,
    "walletb-key-files": texts,
    endpoints: mapOf(endpoint),
    groups: mapOf(group),
    ...schemaOf(merchantTable),
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of Tollgate, for gw apply",
    ...closed({
      gates: mapOf(closed({ ...macKeySchema, ...schemaOf(gateTable()) })),
      directories: mapOf(closed(schemaOf(directoryTable))),
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

/** The parameters of a rule depend on its kind: see `gw filter add <kind> --help`. */
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
          rule: { enum: rules.map(({ kind }) => kind) },
          ...place,
          action: { enum: ["block", "3ds", "mark", "allow"] },
          enabled: { type: "boolean" },
        },
      },
    },
  },
};

const closed = (properties: object) => ({
  type: "object",
  additionalProperties: false,
  properties,
});
const mapOf = (entry: object) => ({ type: "object", additionalProperties: entry });
