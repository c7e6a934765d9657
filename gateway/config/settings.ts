/**
 * Every setting: its environment variable, its parser, its default and its meaning. `gw config`
 * prints this table. A name ends with its unit. No other file reads the environment.
 */
import { isIP } from "node:net";
import { isReadableOnLight, parseColour } from "../values/appearance.ts";
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
const port = upTo(65_535, whole);
const portOrNone: Read<number | ""> = port;
const seconds: Read<number> = (value) =>
  /^\d{1,9}(\.\d{1,3})?$/.test(value) ? Math.round(Number(value) * 1000) : undefined;
const someSeconds: Read<number> = (value) => seconds(value) || undefined;
const secondsList: Read<readonly number[]> = (value) => {
  const gaps = value.split(",").map((each) => seconds(each.trim()));
  return gaps.every((gap) => gap !== undefined) ? gaps : undefined;
};
/**
 * The longest window for signatures. Used payment data is remembered for as long as any window
 * could accept it; see `wallets/`.
 */
export const signingWindowMaxMs = 86_400_000;
const signingWindow = upTo(signingWindowMaxMs, seconds);
export const pageLifeMaxMs = 604_800_000;
const pageLife = upTo(pageLifeMaxMs, seconds);
export const pageTriesMax = 20;
const pageTries: Read<number> = (value) => upTo(pageTriesMax, whole)(value) || undefined;
const tries = upTo(100, whole);
const proofBits: Read<number> = (value) => upTo(30, whole)(value) || undefined;
const word: Read<string> = (value) => (/^[a-z][a-z0-9]{0,19}$/.test(value) ? value : undefined);
const rangesMib: Read<number> = (value) => upTo(256, whole)(value) || undefined;
const share: Read<string> = (value) => {
  const [place = 0, of = 0] = /^[1-9]\d?\/[1-9]\d?$/.test(value)
    ? value.split("/").map(Number)
    : [];
  return place > 0 && place <= of ? value : undefined;
};
const onOff: Read<boolean> = (value) =>
  value === "on" ? true : value === "off" ? false : undefined;
const environment: Read<"staging" | "production"> = (value) =>
  value === "staging" || value === "production" ? value : undefined;
const level: Read<string> = (value) =>
  /^(trace|debug|info|warn|error|silent)$/.test(value) ? value : undefined;

const ports: Read<string> = (value) =>
  partsOf(value).every((part) => port(part) !== undefined) ? value : undefined;
const networks: Read<string> = (value) => (partsOf(value).every(isNetwork) ? value : undefined);
/** Reads hosts in the form that `URL` writes, so that they can be compared. */
const hosts: Read<string> = (value) =>
  partsOf(value).every((part) => URL.parse(`https://${part}/`)?.host === part) ? value : undefined;
/** Reads URLs that browsers accept: https, without a user. */
const paymentMethod: Read<string> = (value) => {
  const { protocol, username, password } = URL.parse(value) ?? {};
  return value === "" || (protocol === "https:" && !username && !password) ? value : undefined;
};
/** Reads an origin: scheme, host and port, as browsers send them in `Origin`. */
const origin: Read<string> = (value) => {
  const url = URL.parse(value);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  return value === "" || isOrigin ? value : undefined;
};
const httpUrl: Read<string> = (value) =>
  value === "" || URL.parse(value)?.protocol === "http:" ? value : undefined;

const allowances = [
  "plain-database",
  "plain-gates",
  "local-audit",
  "unwritable-log",
  "public-staging",
] as const;
export type Allowance = (typeof allowances)[number];
const allowed: Read<string> = (value) =>
  partsOf(value).every((part) => allowances.some((each) => each === part)) ? value : undefined;

const proxyHeader: Read<"x-forwarded-for" | "forwarded"> = (value) =>
  value === "x-forwarded-for" || value === "forwarded" ? value : undefined;

const accent: Read<string> = (value) => {
  const colour = parseColour(value);
  return colour !== undefined && isReadableOnLight(colour) ? value : undefined;
};

const gaps = (...values: readonly number[]) => values.map((each) => each * 1000);

/** The gaps are minutes at first and then hours, for thirty attempts in two weeks. */
const callbackGaps = [
  ...[2, 5, 10, 20, 30].map((count) => count * 60_000),
  ...[1, 2, 3, 6, 12, 18, 24].map((count) => count * 3_600_000),
  ...new Array<number>(5).fill(24 * 3_600_000),
  ...new Array<number>(12).fill(12 * 3_600_000),
];

// biome-ignore format: a table
export const settings = {
  environment:          setting("GW_ENV",                       environment, "staging or production", "staging",        "the environment; staging includes the sandbox and a demonstration merchant"),
  allow:                setting("GW_ALLOW",                     allowed,     `comma-separated: ${allowances.join(", ")}`, "", "what the gateway otherwise refuses to start with. In production: a link to the database of another machine without TLS (`plain-database`), gates over plain TCP (`plain-gates`), an audit whose heads leave the database nowhere (`local-audit`), a log that cannot be written (`unwritable-log`). In staging: a `GW_HOST` that other machines reach (`public-staging`)"),
  rehearsal:            setting("GW_REHEARSAL",                 onOff,       "on or off",             false,            "whether this production installation is a rehearsal with a sandbox on the same machine: no money moves, every page says so, and the database never serves for production"),
  host:                 setting("GW_HOST",                      text,        "an address",            "127.0.0.1",      "the address on which the gateway listens"),
  port:                 setting("GW_PORT",                      port,        "a port",                8080,             "the port on which the gateway listens; 0 selects a free port"),
  tlsCertificateFile:   setting("GW_TLS_CERTIFICATE_FILE",      text,        "a file",                "",               "the certificate of the gateway on that port with its chain, in PEM: with it the gateway speaks TLS itself, version 1.2 or later. Without it, a production gateway takes connections of `GW_TRUSTED_PROXIES` alone"),
  tlsKeyFile:           setting("GW_TLS_KEY_FILE",              text,        "a file",                "",               "the private key of that certificate"),
  tlsReloadEveryMs:     setting("GW_TLS_RELOAD_EVERY_S",        seconds,     "seconds",               5_000,            "how often the two files are read again; a new pair is used once two readings agree"),
  adminPort:            setting("GW_ADMIN_PORT",                portOrNone,  "a port",                "",               "the port of `/health/live`, `/health/ready` and `/metrics`, which `GW_PORT` then does not answer; 0 selects a free port; when empty, `GW_PORT` answers them, `/metrics` in staging alone"),
  adminHost:            setting("GW_ADMIN_HOST",                text,        "an address",            "127.0.0.1",      "the address on which that port listens; it speaks plain HTTP, and anyone who reaches it can read the figures"),
  portalPort:           setting("GW_PORTAL_PORT",               portOrNone,  "a port",                "",               "the port of the portal and its API, which `GW_PORT` then does not answer; it listens on `GW_HOST`, with the same certificate; 0 selects a free port; when empty, `GW_PORT` answers them"),
  portalUrl:            setting("GW_PORTAL_URL",                origin,      "an address without a path, such as https://portal.example", "", "the public address of the portal, as users' browsers see it; its port is that of a proxy where it is not the portal's own; when empty, it is the gateway's, with `GW_PORTAL_PORT` where that is set"),
  portalNetworks:       setting("GW_PORTAL_NETWORKS",           networks,    "comma-separated CIDR",  "",               "the networks whose clients may use the portal and its API, which do not exist for others; behind a proxy, what `GW_TRUSTED_PROXIES` name as the client counts; when empty, every client may"),
  resultsPort:          setting("GW_RESULTS_PORT",              port,        "a port",                8081,             "the port to which directory servers post 3-D Secure results, over mutual TLS; 0 selects a free port"),
  resultsUrl:           setting("GW_RESULTS_URL",               text,        "a URL",                 "",               "the address of that port as directory servers see it; when empty, it is made from host and port"),
  resultsCertificateFile: setting("GW_RESULTS_CERTIFICATE_FILE", text,       "a file",                "",               "the gateway's server certificate on that port, in PEM; in staging the sandbox issues one"),
  resultsKeyFile:       setting("GW_RESULTS_KEY_FILE",          text,        "a file",                "",               "the private key of that certificate"),
  baseUrl:              setting("GW_BASE_URL",                  text,        "a URL",                 "",               "the public address of the gateway, as merchants and browsers see it; when empty, it is made from host and port"),
  dataDir:              setting("GW_DATA_DIR",                  text,        "a folder",              "./data",         "the folder of the embedded database, generated keys and demo.json"),
  databaseUrl:          setting("GW_DATABASE_URL",              text,        "a postgres:// URL",     "",               "your own PostgreSQL, used instead of the embedded one; with several servers, `postgres://user:password@host1:5432,host2:5432/name`, the one that takes writes is used"),
  databasePoolSize:     setting("GW_DATABASE_POOL_SIZE",        whole,       "a number",              8,                "database connections per pool and process"),
  databaseConnectMs:    setting("GW_DATABASE_CONNECT_TIMEOUT_S", seconds,    "seconds",               2_000,            "the timeout for opening a connection to one database server, and for waiting for a free one"),
  databaseStatementMs:  setting("GW_DATABASE_STATEMENT_TIMEOUT_S", seconds,  "seconds",               5_000,            "the timeout for a statement of a node; after it, the gateway closes the connection and sends the statement again over another one. Commands such as `gw migrate` have no such timeout; 0 means none for nodes too"),
  acceptRetryMs:        setting("GW_ACCEPT_RETRY_S",            seconds,     "seconds",               5_000,            "how long the gateway retries a request's commit while the database is unavailable, before it answers 503"),
  pathWord:             setting("GW_PATH_WORD",                 word,        "lower-case letters",    "gw",             "the product word in paths"),
  fieldWord:            setting("GW_FIELD_WORD",                word,        "lower-case letters",    "gw",             "the product word in field names"),
  lineFeeds:            setting("GW_LINE_FEEDS",                onOff,       "on or off",             false,            "whether a line feed follows every value of a reply"),
  zone:                 setting("GW_TIME_ZONE",                 text,        "a time zone",           "UTC",            "the time zone of dates in replies"),
  pageName:             setting("GW_PAGE_NAME",                 text,        "a name",                "",               "your name at the top of the cardholder's pages and receipts; when empty, no name is shown"),
  pageLogoFile:         setting("GW_PAGE_LOGO_FILE",            text,        "a file",                "",               "your logo beside the name: SVG or PNG, up to 64 KiB"),
  pageAccent:           setting("GW_PAGE_ACCENT",               accent,      "a colour such as #0f766e, dark enough to be read on white (4.5 to 1)", "", "the colour of buttons and links on these pages; the dark colour scheme uses a lighter tone of it"),
  bankPort:             setting("GW_BANK_PORT",                 port,        "a port",                8090,             "the port of the sandbox's pages and controls"),
  bankHostPort:         setting("GW_BANK_HOST_PORT",            port,        "a port",                8583,             "the port of the sandbox's ISO 8583 host"),
  bankDirectoryPort:    setting("GW_BANK_DIRECTORY_PORT",       port,        "a port",                8091,             "the port of the sandbox's directory server for 3-D Secure"),
  bankBinaryHostPort:   setting("GW_BANK_BINARY_HOST_PORT",     port,        "a port",                8584,             "the port of the sandbox's ISO 8583 host in the binary dialect"),
  bankIso93HostPort:    setting("GW_BANK_ISO93_HOST_PORT",      port,        "a port",                8585,             "the port of the sandbox's host in the dialect of ISO 8583:1993"),
  workers:              setting("GW_WORKERS",                   whole,       "a number",              0,                "gateway processes on this machine; 0 starts one for every two cores, at least one and at most eight. Each takes about 110 MB at rest and up to about 25 connections to the database. They divide the `connections` of each gate between them, and there are no more of them than the gate with the fewest allows"),
  linkShare:            setting("GW_LINK_SHARE",                share,       "two numbers such as 1/2", "1/1",          "the share of each gate's `connections` that this process opens, 1/2 for the first of two; at least one connection. `gw start` sets it for its processes. Set it where several `gw serve` share the connections that a host allows"),
  nodeName:             setting("GW_NODE_NAME",                 text,        "a name",                "",               "the name of this node, which no other running node may have: a second one does not start; when empty, the name is made from the machine's name and the data folder, with a number where another node has that already"),
  nodeNameWaitMs:       setting("GW_NODE_NAME_WAIT_S",          seconds,     "seconds",               10_000,           "how long a starting node waits for its name while another node has it, which may be ending"),
  reloadEveryMs:        setting("GW_RELOAD_EVERY_S",            seconds,     "seconds",               60_000,           "how often a node reads configuration, keys, BIN table and directory servers again, also without a notice that they changed"),
  masterKeyFile:        setting("GW_MASTER_KEY_FILE",           text,        "a file",                "",               "the file of the key-encryption key: 64 hexadecimal digits or base64; in staging the gateway makes one in the data folder. Set exactly one of `GW_MASTER_KEY_FILE`, `GW_MASTER_KEY` and `GW_MASTER_KEY_COMMAND`, or both parts"),
  masterKey:            setting("GW_MASTER_KEY",                secret,      "a key",                 "",               "the key-encryption key itself"),
  masterKeyCommand:     setting("GW_MASTER_KEY_COMMAND",        text,        "a command",             "",               "a program that prints the key-encryption key, with its arguments; it runs without a shell"),
  masterKeyPartFile1:   setting("GW_MASTER_KEY_PART_FILE_1",    text,        "a file",                "",               "the first custodian's part of the key-encryption key; the parts are combined in memory only"),
  masterKeyPartFile2:   setting("GW_MASTER_KEY_PART_FILE_2",    text,        "a file",                "",               "the second custodian's part of the key-encryption key"),
  newMasterKeyFile:     setting("GW_NEW_MASTER_KEY_FILE",       text,        "a file",                "",               "for `gw key rewrap`: the file of the next key-encryption key"),
  newMasterKey:         setting("GW_NEW_MASTER_KEY",            secret,      "a key",                 "",               "for `gw key rewrap`: the next key-encryption key itself"),
  newMasterKeyCommand:  setting("GW_NEW_MASTER_KEY_COMMAND",    text,        "a command",             "",               "for `gw key rewrap`: a program that prints the next key-encryption key"),
  newMasterKeyPartFile1: setting("GW_NEW_MASTER_KEY_PART_FILE_1", text,        "a file",                "",               "for `gw key rewrap`: the first custodian's part of the next key-encryption key"),
  newMasterKeyPartFile2: setting("GW_NEW_MASTER_KEY_PART_FILE_2", text,        "a file",                "",               "for `gw key rewrap`: the second custodian's part of the next key-encryption key"),
  keyGraceMs:           setting("GW_KEY_GRACE_S",               seconds,     "seconds",               60_000,           "how long a retired key is kept for nodes that have not yet loaded its successor"),
  cryptoperiodDays:     setting("GW_KEY_CRYPTOPERIOD_DAYS",     whole,       "days, or 0 for no limit", 365,             "how old the key-encryption key and the vault's keys of cards, secrets, digests and fingerprints may be before `gw doctor` asks for their replacement"),
  repeatDays:           setting("GW_REPEAT_DAYS",               whole,       "days",                  400,              "how long after a key rotation the gateway recognises repeats of requests from before it; the next rotation after that destroys the key of their digests"),
  user:                 setting("GW_USER",                      text,        "a login",               "",               "who runs a command of `gw`, for the audit, where several persons share an account of the machine; the account needs the right too. When empty, the account"),
  usersOnly:            setting("GW_USERS_ONLY",                onOff,       "on or off",             false,            "whether commands of `gw` are for users alone (`gw user add`); otherwise a login of the machine that is no user has all rights"),
  portalIdleMs:         setting("GW_PORTAL_IDLE_S",             seconds,     "seconds",               900_000,          "after so long without a request a session of the portal ends"),
  portalIndexEveryMs:   setting("GW_PORTAL_INDEX_EVERY_S",      seconds,     "seconds",               1_000,            "how long an open order waits before a node writes it to what the portal lists and counts"),
  portalSessionMs:      setting("GW_PORTAL_SESSION_S",          seconds,     "seconds",               43_200_000,       "how long a session of the portal may last at all"),
  portalTriesMax:       setting("GW_PORTAL_TRIES",              from(1, whole), "a number, from 1",   10,               "wrong passwords, and wrong codes, of a login before the portal locks it; a browser in which the user has signed in before has a count of its own"),
  portalLockMs:         setting("GW_PORTAL_LOCK_S",             someSeconds, "seconds, above 0",      1_800_000,        "how long that lock lasts; each further one of the same login lasts twice as long, up to a day"),
  userIdleDays:         setting("GW_USER_IDLE_DAYS",            whole,       "days, or 0 for never",  0,                "users who have neither signed in to the portal nor run `gw` for so long are disabled, except the last administrator and accounts of programs"),
  secondPerson:         setting("GW_SECOND_PERSON",             onOff,       "on or off",             false,            "whether settling doubt by hand, `gw key rotate`, `gw key rewrap`, the removal of another user or of its second factors and a change of its role need the approval of a second person"),
  secondPersonAbove:    setting("GW_SECOND_PERSON_ABOVE",       whole,       "an amount, or 0 for none", 0,             "returns and voids that people make in the portal need the approval of a second person where the order's amount is larger, in units of its currency"),
  refusedRequestsMax:   setting("GW_REFUSED_REQUESTS_MAX",      whole,       "a number, or 0 for none", 1_000,            "refused requests that are kept of a merchant for the portal, masked, each with at most 8 KB: so many of those that the merchant has signed, and as many of all others"),
  refusedRequestsKeepDays: setting("GW_REFUSED_REQUESTS_KEEP_DAYS", whole,   "days",                  30,               "how long refused requests are kept"),
  auditHeadFile:        setting("GW_AUDIT_HEAD_FILE",           text,        "a file",                "",               "a file to which every signed head of the audit is appended, one line of JSON each; on another machine's disk it proves that no entry was removed"),
  auditHeadUrl:         setting("GW_AUDIT_HEAD_URL",            text,        "a URL",                 "",               "an address to which every signed head of the audit is posted as JSON"),
  ipCountryFile:        setting("GW_IP_COUNTRY_FILE",           text,        "a file",                "",               "the countries of IP addresses, for screening: a MaxMind database (.mmdb) or CSV (.csv) with the columns network and country; read again when it changes"),
  backupFolder:         setting("GW_BACKUP_FOLDER",             text,        "a folder",              "",               "where `gw backup` writes its file, unless `--to` says otherwise"),
  backupRecipients:     setting("GW_BACKUP_RECIPIENTS",         text,        "comma-separated keys",  "",               "public keys of age (`age1…`) to which `gw backup` encrypts, unless `--recipient` says otherwise"),
  backupAgeMaxHours:    setting("GW_BACKUP_AGE_MAX_H",          whole,       "hours, or 0 for no limit", 0,             "`gw doctor` reports a latest backup that is older", 26),
  logLevel:             setting("GW_LOG_LEVEL",                 level,       "a level",               "info",           "the lowest level that is logged: trace, debug, info, warn, error or silent"),
  logFile:              setting("GW_LOG_FILE",                  text,        "a file",                "",               "the file of the log, which rotates by size and day; when empty, `gw start` uses gateway.log in the data folder and `gw serve` standard output"),
  logFileBytesMax:      setting("GW_LOG_FILE_BYTES_MAX",        whole,       "bytes",                 50_000_000,       "the size at which the log file is rotated; rotated files are compressed"),
  logKeepDays:          setting("GW_LOG_KEEP_DAYS",             whole,       "days, or 0 for no limit", 30,             "how long rotated log files are kept", 400),
  diskFreeMib:          setting("GW_DISK_FREE_MIB",             whole,       "MiB",                   2_048,            "the free space below which `gw doctor` reports the disk of the data folder or of the log"),
  bodyBytesMax:         setting("GW_BODY_BYTES_MAX",            whole,       "bytes",                 1_048_576,        "the largest request body"),
  unfinishedBytesMax:   setting("GW_UNFINISHED_BODY_BYTES_MAX", whole,       "bytes",                 67_108_864,       "all request bodies together that have not arrived whole, per process; above it, the process refuses the largest of them with 503"),
  connectionsMax:       setting("GW_CONNECTIONS_MAX",           whole,       "a number",              10_000,           "HTTP connections per process; a further one is closed at once"),
  connectionsPerAddressMax: setting("GW_CONNECTIONS_PER_ADDRESS_MAX", whole, "a number, or 0 for no limit", 1_000,      "HTTP connections per process from one address (for IPv6 from one network of 64 bits), and open requests of one client behind a proxy"),
  trustedProxies:       setting("GW_TRUSTED_PROXIES",           networks,    "comma-separated CIDR",  "127.0.0.0/8,::1/128", "the networks of your proxies: their connections are not bounded, and `GW_PROXY_HEADER` from them names the client. Without TLS of its own, a production gateway takes connections of these alone"),
  proxyHeader:          setting("GW_PROXY_HEADER",              proxyHeader, "x-forwarded-for or forwarded", "x-forwarded-for", "the header in which your proxies name the client; the gateway does not read the other one, which the client may have written"),
  headerTimeoutMs:      setting("GW_HEADER_TIMEOUT_S",          seconds,     "seconds",               10_000,           "the timeout for the head of a request; after it, the connection is closed"),
  requestTimeoutMs:     setting("GW_REQUEST_TIMEOUT_S",         seconds,     "seconds",               20_000,           "the timeout for a whole request with its body; after it, the connection is closed"),
  inFlightMax:          setting("GW_IN_FLIGHT_MAX",             whole,       "a number",              5_000,            "orders in flight per process, from their arrival on; above it, the process answers new orders with 503"),
  queriesInFlightMax:   setting("GW_QUERIES_IN_FLIGHT_MAX",     whole,       "a number",              5_000,            "other requests that wait for the database, per process: status requests, uploads, cards, receipts; above it, the process answers them with 503"),
  readyTimeoutMs:       setting("GW_READY_TIMEOUT_S",           seconds,     "seconds",               2_000,            "how long `/health/ready` waits for the answer of a cell of the database"),
  methodDeadlineMs:     setting("GW_METHOD_DEADLINE_S",         seconds,     "seconds",               600_000,          "the deadline for the result of the 3DS method"),
  challengeDeadlineMs:  setting("GW_CHALLENGE_DEADLINE_S",      seconds,     "seconds",               600_000,          "the deadline for a challenge"),
  paresDeadlineMs:      setting("GW_PARES_DEADLINE_S",          seconds,     "seconds",               900_000,          "the deadline for the PaRes"),
  resultGraceMs:        setting("GW_RESULT_GRACE_S",            seconds,     "seconds",               60_000,           "how long a payment with a successful RReq waits for the CRes before it goes on without"),
  resultWaitMs:         setting("GW_RESULT_WAIT_S",             seconds,     "seconds",               60_000,           "how long a payment with a CRes waits for the RReq before it is declined"),
  processingDeadlineMs: setting("GW_PROCESSING_DEADLINE_S",     seconds,     "seconds",               300_000,          "the deadline for each stage that does not wait for the cardholder: filtering, authenticating, authorizing, inquiring, capturing, returning"),
  doubtAlarmMs:         setting("GW_DOUBT_ALARM_S",             seconds,     "seconds",               900_000,          "how long an order is in doubt before it raises an alarm, and the time between its alarms"),
  answerTimeoutMs:      setting("GW_ACQUIRER_ANSWER_TIMEOUT_S", seconds,     "seconds",               30_000,           "the timeout for an acquirer's answer; after it, the answer counts as lost"),
  leaseSlackMs:         setting("GW_LEASE_SLACK_S",             someSeconds, "seconds, above 0",      15_000,           "an order's lease is longer than `GW_ACQUIRER_ANSWER_TIMEOUT_S` by this time"),
  echoAfterMs:          setting("GW_ACQUIRER_ECHO_AFTER_S",     seconds,     "seconds",               30_000,           "how long an acquirer link is idle before the gateway tests it with an echo"),
  linkWaitMs:           setting("GW_LINK_WAIT_S",               upTo(10_000, seconds), "seconds, up to 10", 1_000,     "how long a payment, a capture, a return or a void waits for a link to an acquirer while none of its gates has one; 0 ends it at once"),
  reversalGapsMs:       setting("GW_REVERSAL_RETRY_GAPS_S",     secondsList, "comma-separated seconds", gaps(2, 5, 10, 30, 60, 120, 300), "gaps between attempts to settle doubt (reversals, repeated captures, returns and voids); the last gap repeats without end"),
  syncWaitMs:           setting("GW_SYNC_WAIT_S",               seconds,     "seconds",               30_000,           "how long a synchronous request waits for the result"),
  cardReferenceGraceMs: setting("GW_CARD_REFERENCE_GRACE_S",    seconds,     "seconds",               0,                "how long a card reference stays valid after the expiry of its card"),
  removedCardKeepMs:    setting("GW_REMOVED_CARD_KEEP_S",       seconds,     "seconds",               604_800_000,      "how long the card of a removed reference is kept for captures, returns and voids of payments with it; then it is destroyed, once no order with it is open"),
  cardKeepDays:         setting("GW_CARD_KEEP_DAYS",            from(31, whole), "days, from 31",     400,              "how long the card number of an order is stored for captures, returns and voids, unless a card reference needs it; a merchant may have its own number"),
  unpaidCardKeepDays:   setting("GW_UNPAID_CARD_KEEP_DAYS",     from(1, whole), "days, from 1",       30,               "the same for an order that was declined, filtered or ended in error"),
  claimEveryMs:         setting("GW_CLAIM_EVERY_S",             seconds,     "seconds",               1_000,            "how often a node looks for due orders and callbacks"),
  clockEveryMs:         setting("GW_CLOCK_EVERY_S",             seconds,     "seconds",               10_000,           "how often a node compares its clock with the database's, whose time all nodes go by"),
  clockSkewAlertMs:     setting("GW_CLOCK_SKEW_ALERT_S",        seconds,     "seconds",               1_000,            "a node whose own clock differs from the database's by more logs `node.clock_skewed`, and `gw doctor` reports it"),
  drainMs:              setting("GW_DRAIN_S",                   seconds,     "seconds",               10_000,           "how long a stopping node waits for its orders in flight"),
  directoryTimeoutMs:   setting("GW_DIRECTORY_TIMEOUT_S",       seconds,     "seconds",               10_000,           "the timeout for a directory server's answer; after it, the answer counts as lost"),
  cardRangesEveryMs:    setting("GW_CARD_RANGES_EVERY_S",       seconds,     "seconds",               86_400_000,       "how often the gateway requests the card ranges of directory servers, which refuse more than one request an hour"),
  cardRangesMibMax:     setting("GW_CARD_RANGES_MAX_MIB",       rangesMib,   "MiB, from 1 to 256",    128,              "the longest answer with card ranges that the gateway reads; 250,000 ranges take some 70 MiB"),
  linkLifeMs:           setting("GW_LINK_LIFE_S",               seconds,     "seconds",               3_600_000,        "how long a cardholder's link is valid, counted from its order"),
  paymentPageLifeMs:    setting("GW_PAYMENT_PAGE_LIFETIME_S",   pageLife,    "seconds, up to 604800", 1_800_000,        "how long a payment page takes cards, where the endpoint does not say it; then its order is declined"),
  paymentPageTries:     setting("GW_PAYMENT_PAGE_TRIES",        pageTries,   "a number from 1 to 20", 3,                "how many cards may be tried on a payment page, where the endpoint does not say it"),
  paymentPostsPerSecond: setting("GW_RATE_PAYMENT_PAGE_PER_S",   whole,       "a number, or 0 for no limit", 0,          "posts of payment pages and of hosted fields per second and client address, per process; an IPv6 address counts by its first 64 bits", 5),
  linkTriesMax:         setting("GW_PAYMENT_PAGE_TRIES_PER_LINK", tries,     "a number up to 100, or 0 for no limit", 0, "how many cards may be tried at a payment link within `GW_PAYMENT_PAGE_TRY_WINDOW_S`, apart from orders that were approved, before its page asks for harder proofs of work; beyond half of it, browsers must bring one", 40),
  addressTriesMax:      setting("GW_PAYMENT_PAGE_TRIES_PER_IP", tries,       "a number up to 100, or 0 for no limit", 0, "how many cards may be tried in that time from an IP address, at all merchants of a cell; beyond half of it, browsers must bring a proof of work, and beyond it no card is tried", 20),
  cardTriesMax:         setting("GW_PAYMENT_PAGE_TRIES_PER_CARD", tries,     "a number up to 100, or 0 for no limit", 0, "the same for tries of a card number, at all merchants of a cell", 10),
  triesWindowMs:        setting("GW_PAYMENT_PAGE_TRY_WINDOW_S", seconds,     "seconds",               3_600_000,        "how far back these tries are counted"),
  proofBits:            setting("GW_PROOF_OF_WORK_BITS",        proofBits,   "a number from 1 to 30", 17,               "the difficulty of a proof of work: each bit doubles the browser's work; 17 take a phone about a second"),
  cardGuessesMax:       setting("GW_CARD_GUESSES_MAX",          tries,       "a number up to 100, or 0 for no limit", 0, "how many different cards with one BIN and last four digits a merchant may send in a day; beyond it all payments with these digits are filtered, because a card number is being searched for", 30),
  walletaRootsFile:     setting("GW_WALLETA_ROOTS_FILE",        text,        "a file",                "",               "the root certificates of walleta, in PEM; in staging the sandbox's"),
  walletbRootKeys:      setting("GW_WALLETB_ROOT_KEYS",         text,        "a file or https URL",   "",               "the source of walletb's root keys; in staging the sandbox's"),
  walletaMethod:        setting("GW_WALLETA_METHOD",            paymentMethod, "an https URL",           "https://walleta.sandbox.invalid/pay", "walleta's payment method identifier, for its button on payment pages; when empty, there is no button", ""),
  walletaHosts:         setting("GW_WALLETA_HOSTS",             hosts,       "comma-separated hosts", "127.0.0.1",      "the hosts at which walleta gives merchant sessions, exactly as its addresses name them (`host`, or `host:port` where the port is not 443); in staging the sandbox's, on any port", ""),
  walletbMethod:        setting("GW_WALLETB_METHOD",            paymentMethod, "an https URL",           "https://walletb.sandbox.invalid/pay", "walletb's payment method identifier, for its button on payment pages; when empty, there is no button", ""),
  walletSigningWindowMs: setting("GW_WALLET_SIGNING_WINDOW_S",  signingWindow, "seconds, up to 86400", 300_000,          "the largest difference between the present time and the time at which walleta signed its payment data"),
  callbackTimeoutMs:    setting("GW_CALLBACK_TIMEOUT_S",        seconds,     "seconds",               15_000,           "the timeout for a receiver's answer to a callback"),
  callbackRetryGapsMs:  setting("GW_CALLBACK_RETRY_GAPS_S",     secondsList, "comma-separated seconds", callbackGaps,     "gaps between attempts to deliver a callback; when the attempt after the last gap fails, the gateway gives the callback up"),
  callbackKeepDays:     setting("GW_CALLBACK_KEEP_DAYS",        whole,       "days, or 0 for no limit", 90,               "how long a callback and its attempts are kept after it was delivered, stopped or given up"),
  historyKeepMonths:    setting("GW_HISTORY_KEEP_MONTHS",       whole,       "months, or 0 for no limit", 24,             "for how many months the history of orders and the requests that were refused or repeated are kept; orders stay"),
  callbackPorts:        setting("GW_CALLBACK_PORTS",            ports,       "comma-separated ports", "",               "ports that callbacks may use besides 80, 443, 8080 and 8443; in staging every port is allowed"),
  callbackPrivateNetworks: setting("GW_CALLBACK_PRIVATE_NETWORKS", networks, "comma-separated CIDR",  "",               "private networks to which endpoints with `--private-callbacks on` may have callbacks sent"),
  callbackNames:        setting("GW_CALLBACK_ALLOWED_NAMES",    text,        "comma-separated names", "",               "names or addresses, in any network, to which the same endpoints may have callbacks sent"),
  callbackProxy:        setting("GW_CALLBACK_PROXY",            httpUrl,     "http://host:port",      "",               "a proxy for all callbacks; the proxy resolves the names, and must refuse addresses inside your network"),
  oauthWindowMs:        setting("GW_OAUTH_WINDOW_S",            seconds,     "seconds",               300_000,          "the largest difference between the present time and the timestamp of an OAuth signature"),
  transactionsPerSecond: setting("GW_RATE_TRANSACTIONS_PER_S",  whole,       "a number, or 0 for no limit", 0,         "transactions per second and merchant, per process", 200),
  ticketsPerSecond:     setting("GW_RATE_TICKETS_PER_S",        whole,       "a number, or 0 for no limit", 0,        "tickets for hosted fields per second and merchant, per process; a page of a shop needs one each time it is shown", 100),
  questionsPerSecond:   setting("GW_RATE_STATUS_PER_S",         whole,       "a number, or 0 for no limit", 0,        "status requests per second and merchant, per process", 1000),
} as const;

export type SettingName = keyof typeof settings;
export type Config = {
  readonly [Name in SettingName]: (typeof settings)[Name] extends Setting<infer Value>
    ? Value
    : never;
};

/** Returns the parts of a comma-separated list. */
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

function from(min: number, read: Read<number>): Read<number> {
  return (value) => {
    const number = read(value);
    return number !== undefined && number >= min ? number : undefined;
  };
}

function upTo(most: number, read: Read<number>): Read<number> {
  return (value) => {
    const number = read(value);
    return number !== undefined && number <= most ? number : undefined;
  };
}

function setting<Value>(
  name: string,
  read: Read<Value>,
  expects: string,
  staging: Value,
  meaning: string,
  production = staging,
): Setting<Value> {
  return { name, read, expects, staging, production, meaning };
}
