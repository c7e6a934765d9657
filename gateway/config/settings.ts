/**
 * Every setting: its name in the environment, how it is read, its default and what it means.
 * `gw config` prints this table; units stand last in the names. Nothing else reads the environment.
 */
import { isIP } from "node:net";
import { isReadableOnLight, parseColour } from "../values/colour.ts";
import { Secret } from "../values/secret.ts";

type Read<Value> = (text: string) => Value | undefined;

export type Setting<Value> = {
  readonly name: string;
  readonly read: Read<Value>;
  readonly expects: string;
  readonly staging: Value;
  readonly production: Value;
  readonly meaning: string;
};

const text: Read<string> = (value) => value;
const secret: Read<Secret<string> | ""> = (value) => new Secret(value);
const whole: Read<number> = (value) => (/^\d{1,9}$/.test(value) ? Number(value) : undefined);
const port: Read<number> = (value) => {
  const number = whole(value);
  return number !== undefined && number <= 65_535 ? number : undefined;
};
const seconds: Read<number> = (value) =>
  /^\d{1,9}(\.\d{1,3})?$/.test(value) ? Math.round(Number(value) * 1000) : undefined;
const secondsList: Read<readonly number[]> = (value) => {
  const gaps = value.split(",").map((each) => seconds(each.trim()));
  return gaps.every((gap) => gap !== undefined) ? gaps : undefined;
};
/** Payment data is remembered for as long as any window could take it: see `wallets/`. */
export const signingWindowMaxMs = 86_400_000;
const signingWindow: Read<number> = (value) => {
  const windowMs = seconds(value);
  return windowMs !== undefined && windowMs <= signingWindowMaxMs ? windowMs : undefined;
};
const word: Read<string> = (value) => (/^[a-z][a-z0-9]{0,19}$/.test(value) ? value : undefined);
const onOff: Read<boolean> = (value) =>
  value === "on" ? true : value === "off" ? false : undefined;
const environment: Read<"staging" | "production"> = (value) =>
  value === "staging" || value === "production" ? value : undefined;
const level: Read<string> = (value) =>
  /^(trace|debug|info|warn|error|silent)$/.test(value) ? value : undefined;

const ports: Read<string> = (value) =>
  partsOf(value).every((part) => port(part) !== undefined) ? value : undefined;
const networks: Read<string> = (value) => (partsOf(value).every(isNetwork) ? value : undefined);
const httpUrl: Read<string> = (value) =>
  value === "" || URL.parse(value)?.protocol === "http:" ? value : undefined;

const accent: Read<string> = (value) => {
  const colour = parseColour(value);
  return colour !== undefined && isReadableOnLight(colour) ? value : undefined;
};

const gaps = (...values: readonly number[]) => values.map((each) => each * 1000);

/** Minutes, then hours: thirty tries in two weeks. */
const callbackGaps = [
  ...[2, 5, 10, 20, 30].map((count) => count * 60_000),
  ...[1, 2, 3, 6, 12, 18, 24].map((count) => count * 3_600_000),
  ...new Array<number>(5).fill(24 * 3_600_000),
  ...new Array<number>(12).fill(12 * 3_600_000),
];

// biome-ignore format: a table
export const settings = {
  environment:          same("GW_ENV",                       environment, "staging or production", "staging",        "staging comes with the sandbox bank and a demonstration merchant"),
  host:                 same("GW_HOST",                      text,        "an address",            "127.0.0.1",      "where the gateway listens"),
  port:                 same("GW_PORT",                      port,        "a port",                8080,             "where the gateway listens; 0 takes a free port"),
  resultsPort:          same("GW_RESULTS_PORT",              port,        "a port",                8081,             "where directory servers post 3-D Secure results, with certificates on both sides; 0 takes a free port"),
  resultsUrl:           same("GW_RESULTS_URL",               text,        "a URL",                 "",               "that place as directory servers see it; from host and port when empty"),
  resultsCertificateFile: same("GW_RESULTS_CERTIFICATE_FILE", text,       "a file",                "",               "our certificate there, in PEM; in staging the sandbox bank issues one"),
  resultsKeyFile:       same("GW_RESULTS_KEY_FILE",          text,        "a file",                "",               "the private key of that certificate"),
  baseUrl:              same("GW_BASE_URL",                  text,        "a URL",                 "",               "the public address, as merchants and browsers see it; from host and port when empty"),
  dataDir:              same("GW_DATA_DIR",                  text,        "a folder",              "./data",         "embedded database, generated keys, demo.json"),
  databaseUrl:          same("GW_DATABASE_URL",              text,        "a postgres:// URL",     "",               "a PostgreSQL of yours instead of the embedded one"),
  databasePoolSize:     same("GW_DATABASE_POOL_SIZE",        whole,       "a number",              8,                "connections per pool and process"),
  databaseConnectMs:    same("GW_DATABASE_CONNECT_TIMEOUT_S", seconds,    "seconds",               10_000,           "how long a connection may take"),
  beginTriesMs:         same("GW_ACCEPT_RETRY_S",            seconds,     "seconds",               5_000,            "how long a new order is tried again while the database is away, before 503"),
  pathWord:             same("GW_PATH_WORD",                 word,        "lower-case letters",    "gw",             "the product word in paths"),
  fieldWord:            same("GW_FIELD_WORD",                word,        "lower-case letters",    "gw",             "the product word in field names"),
  lineFeeds:            same("GW_LINE_FEEDS",                onOff,       "on or off",             false,            "a line feed after every value of a reply"),
  zone:                 same("GW_TIME_ZONE",                 text,        "a time zone",           "UTC",            "the zone of dates in replies"),
  pageName:             same("GW_PAGE_NAME",                 text,        "a name",                "",               "your name above the cardholder's pages and receipts; nothing stands there when empty"),
  pageLogoFile:         same("GW_PAGE_LOGO_FILE",            text,        "a file",                "",               "your logo beside it: SVG or PNG, up to 64 KiB"),
  pageAccent:           same("GW_PAGE_ACCENT",               accent,      "a colour such as #0f766e, dark enough to be read on white (4.5 to 1)", "", "the colour of buttons and links on these pages; on dark screens it is lightened"),
  bankPort:             same("GW_BANK_PORT",                 port,        "a port",                8090,             "sandbox bank: its pages and controls"),
  bankHostPort:         same("GW_BANK_HOST_PORT",            port,        "a port",                8583,             "sandbox bank: its ISO 8583 host"),
  bankDirectoryPort:    same("GW_BANK_DIRECTORY_PORT",       port,        "a port",                8091,             "sandbox bank: its directory server for 3-D Secure"),
  bankBinaryHostPort:   same("GW_BANK_BINARY_HOST_PORT",     port,        "a port",                8584,             "sandbox bank: its ISO 8583 host in the binary dialect"),
  workers:              same("GW_WORKERS",                   whole,       "a number",              1,                "gateway processes on this machine"),
  nodeName:             same("GW_NODE_NAME",                 text,        "a name",                "",               "this node among others; from machine and data folder when empty"),
  masterKeyFile:        same("GW_MASTER_KEY_FILE",           text,        "a file",                "",               "key-encryption key, 64 hexadecimal digits or base64; made in the data folder in staging. Of this and the next four give one, or the two parts"),
  masterKey:            same("GW_MASTER_KEY",                secret,      "a key",                 "",               "the key-encryption key itself"),
  masterKeyCommand:     same("GW_MASTER_KEY_COMMAND",        text,        "a command",             "",               "a program that prints it, with its words; run without a shell"),
  masterKeyPartFile1:   same("GW_MASTER_KEY_PART_FILE_1",    text,        "a file",                "",               "the first custodian's part of it; the parts are put together in memory only"),
  masterKeyPartFile2:   same("GW_MASTER_KEY_PART_FILE_2",    text,        "a file",                "",               "the second custodian's part"),
  newMasterKeyFile:     same("GW_NEW_MASTER_KEY_FILE",       text,        "a file",                "",               "for `gw key rewrap`: the next key-encryption key, from a file"),
  newMasterKey:         same("GW_NEW_MASTER_KEY",            secret,      "a key",                 "",               "for `gw key rewrap`: the next key-encryption key itself"),
  newMasterKeyCommand:  same("GW_NEW_MASTER_KEY_COMMAND",    text,        "a command",             "",               "for `gw key rewrap`: a program that prints the next one"),
  newMasterKeyPartFile1: same("GW_NEW_MASTER_KEY_PART_FILE_1", text,        "a file",                "",               "for `gw key rewrap`: the first part of the next one"),
  newMasterKeyPartFile2: same("GW_NEW_MASTER_KEY_PART_FILE_2", text,        "a file",                "",               "for `gw key rewrap`: the second part of the next one"),
  keyGraceMs:           same("GW_KEY_GRACE_S",               seconds,     "seconds",               60_000,           "how long a retired key is kept for nodes that have not heard of the next one"),
  logLevel:             same("GW_LOG_LEVEL",                 level,       "a level",               "info",           "trace, debug, info, warn, error or silent"),
  bodyBytesMax:         same("GW_BODY_BYTES_MAX",            whole,       "bytes",                 1_048_576,        "the largest request body"),
  inFlightMax:          same("GW_IN_FLIGHT_MAX",             whole,       "a number",              5_000,            "orders in hand per process; past it new ones get 503"),
  methodDeadlineMs:     same("GW_METHOD_DEADLINE_S",         seconds,     "seconds",               600_000,          "how long the method result may take"),
  challengeDeadlineMs:  same("GW_CHALLENGE_DEADLINE_S",      seconds,     "seconds",               600_000,          "how long a challenge may take"),
  paresDeadlineMs:      same("GW_PARES_DEADLINE_S",          seconds,     "seconds",               900_000,          "how long the PaRes may take"),
  resultGraceMs:        same("GW_RESULT_GRACE_S",            seconds,     "seconds",               60_000,           "RReq says yes but no CRes comes: go on after this"),
  resultWaitMs:         same("GW_RESULT_WAIT_S",             seconds,     "seconds",               60_000,           "a CRes has come but no RReq: the payment ends after this"),
  processingDeadlineMs: same("GW_PROCESSING_DEADLINE_S",     seconds,     "seconds",               300_000,          "how long an order may be on its way inside the gateway"),
  doubtAlarmMs:         same("GW_DOUBT_ALARM_S",             seconds,     "seconds",               900_000,          "after this an order in doubt raises an alarm, again and again"),
  answerTimeoutMs:      same("GW_ACQUIRER_ANSWER_TIMEOUT_S", seconds,     "seconds",               30_000,           "after this an acquirer's answer counts as lost"),
  leaseSlackMs:         same("GW_LEASE_SLACK_S",             seconds,     "seconds",               15_000,           "how much longer than an answer may take a node may be silent with an order"),
  echoAfterMs:          same("GW_ACQUIRER_ECHO_AFTER_S",     seconds,     "seconds",               30_000,           "an idle acquirer link is tested after this"),
  reversalGapsMs:       same("GW_REVERSAL_RETRY_GAPS_S",     secondsList, "seconds, by commas",    gaps(2, 5, 10, 30, 60, 120, 300), "gaps between tries of a reversal, or of whatever else settles doubt; the last is repeated for ever"),
  syncWaitMs:           same("GW_SYNC_WAIT_S",               seconds,     "seconds",               30_000,           "how long a synchronous request waits for the result"),
  cardReferenceGraceMs: same("GW_CARD_REFERENCE_GRACE_S",    seconds,     "seconds",               0,                "how long after its card's expiry a card reference may still be paid with"),
  claimEveryMs:         same("GW_CLAIM_EVERY_S",             seconds,     "seconds",               1_000,            "how often due work is looked for"),
  drainMs:              same("GW_DRAIN_S",                   seconds,     "seconds",               10_000,           "how long a stopping gateway waits for orders in hand"),
  directoryTimeoutMs:   same("GW_DIRECTORY_TIMEOUT_S",       seconds,     "seconds",               10_000,           "after this a directory server's answer counts as lost"),
  cardRangesEveryMs:    same("GW_CARD_RANGES_EVERY_S",       seconds,     "seconds",               86_400_000,       "how often directory servers are asked for their card ranges; they refuse more than once an hour"),
  linkLifeMs:           same("GW_LINK_LIFE_S",               seconds,     "seconds",               3_600_000,        "how long after its order a cardholder's link leads anywhere"),
  walletaRootsFile:     same("GW_WALLETA_ROOTS_FILE",        text,        "a file",                "",               "the root certificates of walleta, in PEM; in staging the sandbox bank's"),
  walletbRootKeys:      same("GW_WALLETB_ROOT_KEYS",         text,        "a file or https URL",   "",               "where the root keys of walletb are; in staging the sandbox bank's"),
  walletSigningWindowMs: same("GW_WALLET_SIGNING_WINDOW_S",  signingWindow, "seconds, up to 86400", 300_000,          "how far from now walleta may have signed its payment data"),
  callbackTimeoutMs:    same("GW_CALLBACK_TIMEOUT_S",        seconds,     "seconds",               15_000,           "how long a receiver of callbacks may take"),
  callbackRetryGapsMs:  same("GW_CALLBACK_RETRY_GAPS_S",     secondsList, "seconds, by commas",    callbackGaps,     "gaps between tries of a callback; after the last it is given up"),
  callbackKeepDays:     same("GW_CALLBACK_KEEP_DAYS",        whole,       "days, 0 is for ever",   90,               "how long callbacks and all their tries are kept after they are over"),
  callbackPorts:        same("GW_CALLBACK_PORTS",            ports,       "ports, by commas",      "",               "ports that callbacks may go to besides 80, 443, 8080 and 8443; in staging all may"),
  callbackPrivateNetworks: same("GW_CALLBACK_PRIVATE_NETWORKS", networks, "CIDR, by commas",       "",               "private networks that callbacks may go to"),
  callbackNames:        same("GW_CALLBACK_ALLOWED_NAMES",    text,        "names, by commas",      "",               "names or addresses that callbacks may go to, whatever they are"),
  callbackProxy:        same("GW_CALLBACK_PROXY",            httpUrl,     "http://host:port",      "",               "a proxy that all callbacks go through; it looks names up then, and must refuse what leads inside"),
  oauthWindowMs:        same("GW_OAUTH_WINDOW_S",            seconds,     "seconds",               300_000,          "how far from now the time stamp of an OAuth signature may be"),
  transactionsPerSecond: both("GW_RATE_TRANSACTIONS_PER_S",  whole,       "a number, 0 is no limit", 0, 200,         "transactions per second and merchant"),
  questionsPerSecond:   both("GW_RATE_STATUS_PER_S",         whole,       "a number, 0 is no limit", 0, 1000,        "status requests per second and merchant"),
} as const;

export type SettingName = keyof typeof settings;
export type Config = {
  readonly [Name in SettingName]: (typeof settings)[Name] extends Setting<infer Value>
    ? Value
    : never;
};

/** What stands between commas. */
export function partsOf(value: string): readonly string[] {
  return value
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

function isNetwork(text: string): boolean {
  const [address = "", bits = ""] = text.split("/");
  return (
    isIP(address) > 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128)
  );
}

function both<Value>(
  name: string,
  read: Read<Value>,
  expects: string,
  staging: Value,
  production: Value,
  meaning: string,
): Setting<Value> {
  return { name, read, expects, staging, production, meaning };
}

function same<Value>(
  name: string,
  read: Read<Value>,
  expects: string,
  value: Value,
  meaning: string,
): Setting<Value> {
  return both(name, read, expects, value, value, meaning);
}
